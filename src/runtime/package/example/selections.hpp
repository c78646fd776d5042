// Prints what is selected for random problems, for comparison with another implementation.
#pragma once

#include <algorithm>
#include <cstdio>

#include "cases.hpp"
#include "elements.hpp"

namespace example {

inline const char* layout_name(Layout layout) { return layout == Layout::bhsd ? "bhsd" : "bshd"; }

/// A problem like a tuned one, one with round numbers, or an arbitrary one.
inline Case random_case(std::uint64_t& seed) {
  const auto& rows = fatune_attention::detail::kTable.rows;
  const auto one_of = [&seed](std::initializer_list<std::int64_t> values) {
    const auto last = static_cast<std::int64_t>(values.size()) - 1;
    return values.begin()[random_between(seed, 0, last)];
  };
  const auto length = [&] {
    const std::int64_t power = std::int64_t{1} << random_between(seed, 0, 14);
    return one_of({power, power, random_between(seed, 1, 20'000)});
  };
  fatune_attention::Problem p;
  if (rows.count > 0) {
    p = rows[static_cast<int>(random_between(seed, 0, rows.count - 1))].problem;
  }
  if (rows.count == 0 || one_of({0, 0, 1}) == 1) {
    p.dtype = one_of({0, 1}) == 0 ? fatune_attention::DType::fp16 : fatune_attention::DType::bf16;
    p.d_head = one_of({32, 64, 80, 96, 128, 192, 256});
    p.d_head_v = one_of({p.d_head, p.d_head, 64, 128});
    p.causal = one_of({0, 1}) == 1;
  }
  if (one_of({0, 1, 1}) == 1) {
    p.seq_len = length();
    p.seq_len_kv = one_of({p.seq_len, p.seq_len, length()});
    p.batch = one_of({1, 2, 3, 4, 8, 16, 32});
    p.kv_heads = one_of({1, 2, 4, 8, 16});
    p.heads = p.kv_heads * one_of({1, 1, 1, 2, 3, 4, 8});
    p.window = one_of({0, 0, 0, 0, 128, 1000});
    p.lse = one_of({0, 0, 0, 1}) == 1;
  }
  return {p, one_of({0, 0, 1}) == 1 ? Layout::bhsd : Layout::bshd};
}

/// Prints a line for each selection: the problem, how the choice was made, and what was chosen.
inline void print_selections(int count, std::uint64_t seed,
                             const fatune_attention::Device& device) {
  for (int i = 0; i < count; ++i) {
    const Case one = random_case(seed);
    const fatune_attention::Problem& p = one.problem;
    const fatune_attention::Selection chosen = select(p, strides_of(one), device);
    std::printf(
        "batch=%lld heads=%lld kv_heads=%lld seq_len=%lld seq_len_kv=%lld d_head=%lld "
        "d_head_v=%lld dtype=%s causal=%d window=%lld lse=%d layout=%s row=%d kernel=%d "
        "step=%s config=%s\n",
        static_cast<long long>(p.batch), static_cast<long long>(p.heads),
        static_cast<long long>(p.kv_heads), static_cast<long long>(p.seq_len),
        static_cast<long long>(p.seq_len_kv), static_cast<long long>(p.d_head),
        static_cast<long long>(p.d_head_v),
        p.dtype == fatune_attention::DType::bf16 ? "bf16" : "fp16", int{p.causal},
        static_cast<long long>(p.window), int{p.lse}, layout_name(one.layout), chosen.row,
        chosen.kernel, step_name(chosen.step), chosen.config);
  }
}

}  // namespace example
