#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// The outputs that a kernel may write in addition to O: an fp32 number for each row of scores s =
/// softmax_scale * q.k, capped if the problem has a softcap. A sink counts as one of the scores.
/// The enumerators' values are passed to kernels/reference/row_values.cuh.
enum class RowValue : int {
  log_sum_exp = 0,  ///< ln(sum of exp(s))
  maximum = 1,      ///< the greatest s
  sum = 2           ///< sum of exp(s - maximum)
};

/// The names that families use.
template <>
inline constexpr EnumNames<3> kEnumNames<RowValue>{"row value", {"lse", "row_max", "row_sum"}};

/// The statistics of one row. Both are minus infinity in a row that sees no key and has no sink.
struct RowStatistics {
  double maximum = 0.0;
  double log_of_sum = 0.0;  ///< ln(sum of exp(s - maximum))

  [[nodiscard]] double of(RowValue what) const;  ///< a sum is returned as its logarithm
};

/// Compares an output of row values, as logarithms, with the reference on the CPU, as
/// row_values.cuh does on a GPU. A value must be minus infinity (a sum 0) exactly where the
/// reference is.
/// shape: values, reference: a value for each of output_rows(); limit: row_value_limit()
[[nodiscard]] ErrorStats compare_row_values(const std::string& output, RowValue what,
                                            std::span<const float> values,
                                            std::span<const RowStatistics> reference, double limit);

/// The greatest Euclidean norm of the rows of a tensor, whatever its layout.
[[nodiscard]] double greatest_norm(std::span<const double> elements, std::int64_t columns);

/// The value of an element; of 8 bits, these are the lower ones of `bits`.
[[nodiscard]] double element_value(std::uint16_t bits, DType dtype);

/// Returns the nearest element, ties to even. Overflow gives infinity, as with a GPU's cvt.rn, but
/// in 8 bits the greatest number, as with cvt.rn.satfinite.
[[nodiscard]] std::uint16_t round_to_element(double value, DType dtype);

/// Attention forward in float64, straight from the formula: O = softmax(softmax_scale * Q K^T) V,
/// over the keys that each query sees (flop.hpp), with the problem's softcap. A row that sees no
/// key is 0. shape:  q, k, v and the result: as tensor_shape() says; sinks: (heads), or empty Cost:
/// batch * heads * seq_len * seq_len_kv * d_head on one core, so only for tests and debugging.
[[nodiscard]] std::vector<double> cpu_attention(const Problem& problem, std::span<const double> q,
                                                std::span<const double> k,
                                                std::span<const double> v,
                                                std::span<const float> sinks = {});

/// Whether keys, or pages of them, have scales of their own. The rounded reference then rounds
/// probabilities once more, times the scales of V.
[[nodiscard]] bool keys_have_scales(const Problem& problem);

/// Attention with scores, before and after they are capped, probabilities and the result rounded to
/// the problem's element type, as in a framework that runs the operations one by one. Sums are
/// float64, where a framework has fp32. With scales of V that keys have of their own, a probability
/// p becomes round(p * m) / m, where m is the significand of its key's scale, 1 <= m < 2.
///
/// Where Q has 8 bits, scores are not rounded, and the result is rounded to bf16. An exponential e
/// is relative to a power of two (kernels/reference/probability_units.h), and becomes round(u * e)
/// / u, where round gives an e4m3 and u is kProbabilityUnits. Probabilities are these over their
/// sum, in which a sink counts without rounding. shape: v: what is stored times its scale;
/// v_scales: normal numbers > 0, one for each row of v in
///        the order of its elements; empty unless keys_have_scales()
[[nodiscard]] std::vector<double> cpu_rounded_attention(const Problem& problem,
                                                        std::span<const double> q,
                                                        std::span<const double> k,
                                                        std::span<const double> v,
                                                        std::span<const float> sinks = {},
                                                        std::span<const float> v_scales = {});

/// Maximum and sum of every row's scores over the keys that it sees, in float64.
/// shape:  result (batch, heads, seq_len), of a packed problem (heads, all rows); sinks: (heads),
/// or
///         empty
[[nodiscard]] std::vector<RowStatistics> cpu_row_statistics(const Problem& problem,
                                                            std::span<const double> q,
                                                            std::span<const double> k,
                                                            std::span<const float> sinks = {});
/// The log-sum-exp of every row, from cpu_row_statistics().
[[nodiscard]] std::vector<double> cpu_log_sum_exp(const Problem& problem, std::span<const double> q,
                                                  std::span<const double> k,
                                                  std::span<const float> sinks = {});

/// Converts elements to numbers.
[[nodiscard]] std::vector<double> element_values(std::span<const std::uint16_t> elements,
                                                 DType dtype);

}  // namespace fatune
