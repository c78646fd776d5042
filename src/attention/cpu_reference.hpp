#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

/// Value of a 16-bit element: `bits` as fp16 or bf16.
[[nodiscard]] double element_value(std::uint16_t bits, DType dtype);

/// Nearest 16-bit element, ties to even; overflow gives infinity. What a GPU's cvt.rn does.
[[nodiscard]] std::uint16_t round_to_element(double value, DType dtype);

/// Attention forward in float64, straight from the formula: O = softmax(scale * Q K^T) V, scale =
/// 1 / sqrt(d_head), keys after the query left out when causal.
/// shape:  q, k, v and the result: (batch, seq_len, heads, d_head), contiguous
/// Cost: batch * heads * seq_len^2 * d_head on one core: for tests and for debugging.
[[nodiscard]] std::vector<double> cpu_attention(const Problem& problem, std::span<const double> q,
                                                std::span<const double> k,
                                                std::span<const double> v);

/// The same with scores, probabilities and the result rounded to the problem's element type, as a
/// framework rounds that runs the operations one by one (sums in float64, where it has fp32).
[[nodiscard]] std::vector<double> cpu_rounded_attention(const Problem& problem,
                                                        std::span<const double> q,
                                                        std::span<const double> k,
                                                        std::span<const double> v);

/// Elements as numbers.
[[nodiscard]] std::vector<double> element_values(std::span<const std::uint16_t> elements,
                                                 DType dtype);

}  // namespace fatune
