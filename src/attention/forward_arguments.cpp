#include "attention/forward_arguments.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "common/attention_args.h"
#include "common/attention_dump.h"

namespace fatune {
namespace {

constexpr std::int64_t kAlignment = alignof(AttentionForwardArgs);
static_assert(alignof(AttentionDump) == kAlignment);
static_assert(sizeof(AttentionForwardDumpArgs) ==
              sizeof(AttentionForwardArgs) + sizeof(AttentionDump));

template <typename Value>
ScalarPiece scalar(std::size_t offset, Value value) {
  ScalarPiece piece{static_cast<std::int64_t>(offset), sizeof value, 0,
                    std::is_same_v<Value, float> ? "float" : "int32"};
  std::memcpy(&piece.bits, &value, sizeof value);
  return piece;
}

AddressPiece address(std::size_t offset, const char* tensor, std::int64_t byte_offset = 0) {
  return {static_cast<std::int64_t>(offset), tensor, byte_offset};
}

/// Appends a member to the struct, as a derived C++ struct would have it. Returns its offset.
std::size_t append_place(std::size_t bytes, KernelArgument& argument) {
  const std::size_t used = static_cast<std::size_t>(argument.bytes);
  const std::size_t offset = (used + bytes - 1) / bytes * bytes;
  argument.bytes = static_cast<std::int64_t>(offset + bytes);
  return offset;
}

void add_unusual(const Problem& problem, KernelArgument& argument) {
  if (problem.lse) {
    argument.addresses.push_back(address(append_place(sizeof(std::uint64_t), argument), "lse"));
  }
  if (problem.seq_len_kv != problem.seq_len) {
    argument.scalars.push_back(
        scalar(append_place(sizeof(int), argument), static_cast<int>(problem.seq_len_kv)));
  }
  argument.bytes = (argument.bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

KernelBuffer log_sum_exp_buffer(const Problem& problem) {
  KernelBuffer buffer;
  buffer.name = "lse";
  buffer.output = "lse";
  buffer.element_type = "float32";
  buffer.shape = {problem.batch, problem.heads, problem.seq_len};
  buffer.bytes = output_rows(problem) * static_cast<std::int64_t>(sizeof(float));
  return buffer;
}

KernelArguments attention_forward_arguments(const Problem& problem) {
  using Args = AttentionForwardArgs;
  KernelArgument argument{"/abi", sizeof(Args), kAlignment, {}, {}, {}};
  argument.addresses = {address(offsetof(Args, q), "q"), address(offsetof(Args, k), "k"),
                        address(offsetof(Args, v), "v"), address(offsetof(Args, o), "o")};
  argument.scalars = {scalar(offsetof(Args, batch), static_cast<int>(problem.batch)),
                      scalar(offsetof(Args, seq_len), static_cast<int>(problem.seq_len)),
                      scalar(offsetof(Args, heads), static_cast<int>(problem.heads)),
                      scalar(offsetof(Args, softmax_scale), problem.softmax_scale)};
  add_unusual(problem, argument);
  KernelArguments arguments{true, {std::move(argument)}, {}};
  if (problem.lse) {
    arguments.buffers.push_back(log_sum_exp_buffer(problem));
  }
  return arguments;
}

void add_dump(const DumpExtents& extents, KernelArguments& arguments) {
  using Dump = AttentionDump;
  if (!arguments.standard) {
    arguments.list.push_back({"/debug", 0, kAlignment, {}, {}, {}});
  }
  KernelArgument& argument = arguments.list.back();
  const auto begin = static_cast<std::size_t>(argument.bytes);
  const auto place = [&](std::size_t member, std::int64_t float_offset) {
    argument.addresses.push_back(address(begin + member, kDumpTensor, 4 * float_offset));
  };
  const std::int64_t p = extents.rows * extents.keys;
  const std::int64_t m = 2 * p;
  const std::int64_t l = m + extents.kv_tiles * extents.rows;
  place(offsetof(Dump, s), 0);
  place(offsetof(Dump, p), p);
  place(offsetof(Dump, m), m);
  place(offsetof(Dump, l), l);
  place(offsetof(Dump, o), l + extents.kv_tiles * extents.rows);
  argument.scalars.push_back(scalar(begin + offsetof(Dump, rows), static_cast<int>(extents.rows)));
  argument.scalars.push_back(scalar(begin + offsetof(Dump, keys), static_cast<int>(extents.keys)));
  argument.bytes += static_cast<std::int64_t>(sizeof(Dump));
}

}  // namespace fatune
