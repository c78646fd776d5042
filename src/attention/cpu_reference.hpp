#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/problem.hpp"
#include "attention/row_values.hpp"

namespace fatune {

/// Value of a 16-bit element: `bits` as fp16 or bf16.
[[nodiscard]] double element_value(std::uint16_t bits, DType dtype);

/// Nearest 16-bit element, ties to even; overflow gives infinity, as with a GPU's cvt.rn.
[[nodiscard]] std::uint16_t round_to_element(double value, DType dtype);

/// Attention forward in float64, straight from the formula: O = softmax(softmax_scale * Q K^T) V,
/// over the keys that each query sees (visible_keys.hpp). A row that sees none is 0.
/// shape:  q, k, v and the result: as tensor_shape() says
/// Cost: batch * heads * seq_len * seq_len_kv * d_head on one core: for tests and for debugging.
[[nodiscard]] std::vector<double> cpu_attention(const Problem& problem, std::span<const double> q,
                                                std::span<const double> k,
                                                std::span<const double> v);

/// Attention with scores, probabilities and the result rounded to the problem's element type, as a
/// framework does that runs the operations one by one (sums are float64, where it has fp32).
[[nodiscard]] std::vector<double> cpu_rounded_attention(const Problem& problem,
                                                        std::span<const double> q,
                                                        std::span<const double> k,
                                                        std::span<const double> v);

/// Maximum and sum of every row's softmax_scale * q.k over the keys that it sees, in float64.
/// shape:  result (batch, heads, seq_len)
[[nodiscard]] std::vector<RowStatistics> cpu_row_statistics(const Problem& problem,
                                                            std::span<const double> q,
                                                            std::span<const double> k);
/// The log-sum-exps of the same.
[[nodiscard]] std::vector<double> cpu_log_sum_exp(const Problem& problem, std::span<const double> q,
                                                  std::span<const double> k);

/// Elements as numbers.
[[nodiscard]] std::vector<double> element_values(std::span<const std::uint16_t> elements,
                                                 DType dtype);

}  // namespace fatune
