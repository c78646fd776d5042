#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/problem.hpp"
#include "attention/row_values.hpp"

namespace fatune {

/// The value of a 16-bit element: `bits` as fp16 or bf16.
[[nodiscard]] double element_value(std::uint16_t bits, DType dtype);

/// Returns the nearest 16-bit element, ties to even. Overflow gives infinity, as with a GPU's
/// cvt.rn.
[[nodiscard]] std::uint16_t round_to_element(double value, DType dtype);

/// Attention forward in float64, straight from the formula: O = softmax(softmax_scale * Q K^T) V,
/// over the keys that each query sees (visible_keys.hpp). A row that sees no key is 0.
/// shape:  q, k, v and the result: as tensor_shape() says
/// Cost: batch * heads * seq_len * seq_len_kv * d_head on one core, so only for tests and
/// debugging.
[[nodiscard]] std::vector<double> cpu_attention(const Problem& problem, std::span<const double> q,
                                                std::span<const double> k,
                                                std::span<const double> v);

/// Attention with scores, probabilities and the result rounded to the problem's element type, as in
/// a framework that runs the operations one by one. Sums are float64, where a framework has fp32.
[[nodiscard]] std::vector<double> cpu_rounded_attention(const Problem& problem,
                                                        std::span<const double> q,
                                                        std::span<const double> k,
                                                        std::span<const double> v);

/// Maximum and sum of every row's softmax_scale * q.k over the keys that it sees, in float64.
/// shape:  result (batch, heads, seq_len)
[[nodiscard]] std::vector<RowStatistics> cpu_row_statistics(const Problem& problem,
                                                            std::span<const double> q,
                                                            std::span<const double> k);
/// The log-sum-exp of every row, from cpu_row_statistics().
[[nodiscard]] std::vector<double> cpu_log_sum_exp(const Problem& problem, std::span<const double> q,
                                                  std::span<const double> k);

/// Converts elements to numbers.
[[nodiscard]] std::vector<double> element_values(std::span<const std::uint16_t> elements,
                                                 DType dtype);

}  // namespace fatune
