#pragma once

#include <cstddef>
#include <cstring>

#include "common/attention_args.h"
#include "model/head_problem.hpp"
#include "model/kv_lengths.hpp"

namespace fatune {

/// The arguments of a kernel whose family has "abi": kernels/common/attention_args.h and the
/// members that an unusual problem appends to it, as a derived C++ struct would have them.
inline KernelArguments attention_forward_arguments(const Problem& problem) {
  using Args = AttentionForwardArgs;
  struct Appended {
    std::size_t end = sizeof(Args);
    std::int64_t add(std::size_t bytes) {
      end = (end + bytes - 1) / bytes * bytes + bytes;
      return static_cast<std::int64_t>(end - bytes);
    }
  } appended;
  KernelArgument argument{"/abi", 0, alignof(Args), {}, {}, {}};
  const auto add_int = [&](std::size_t offset, std::int64_t value) {
    argument.scalars.push_back(
        {static_cast<std::int64_t>(offset), 4, static_cast<std::uint32_t>(value), "int32"});
  };
  argument.addresses = {{offsetof(Args, q), "q"},
                        {offsetof(Args, k), "k"},
                        {offsetof(Args, v), "v"},
                        {offsetof(Args, o), "o"}};
  add_int(offsetof(Args, batch), problem.batch);
  add_int(offsetof(Args, seq_len), problem.seq_len);
  add_int(offsetof(Args, heads), problem.heads);
  argument.scalars.push_back({offsetof(Args, softmax_scale), 4, 0, "float"});
  std::memcpy(&argument.scalars.back().bits, &problem.softmax_scale, sizeof problem.softmax_scale);
  if (problem.lse) {
    argument.addresses.push_back({appended.add(8), "lse"});
  }
  if (problem.seq_len_kv != problem.seq_len && !is_packed(problem)) {
    add_int(static_cast<std::size_t>(appended.add(4)), problem.seq_len_kv);
  }
  if (problem.sinks) {
    argument.addresses.push_back({appended.add(8), std::string(kSinksTensor)});
  }
  if (problem.softcap > 0.0F) {
    argument.scalars.push_back({appended.add(4), 4, 0, "float"});
    std::memcpy(&argument.scalars.back().bits, &problem.softcap, sizeof problem.softcap);
  }
  if (is_packed(problem)) {
    argument.addresses.push_back({appended.add(8), std::string(kQueryStartsTensor)});
    argument.addresses.push_back({appended.add(8), std::string(kKeyStartsTensor)});
  }
  argument.bytes = static_cast<std::int64_t>((appended.end + 7) / 8 * 8);
  return {true,
          {argument},
          problem.lse ? std::vector{log_sum_exp_buffer(problem)} : std::vector<KernelBuffer>{}};
}

}  // namespace fatune
