#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/outcome.hpp"

namespace fatune {

/// The outputs that a kernel may write beside O: an fp32 number for each row of scores s =
/// softmax_scale * q.k. The values are the argument of kernels/reference/row_values.cuh.
enum class RowValue : int {
  log_sum_exp = 0,  ///< ln(sum of exp(s))
  maximum = 1,      ///< the greatest s
  sum = 2           ///< sum of exp(s - maximum)
};

/// "lse", "row_max", "row_sum", as families name them; nothing for another name.
[[nodiscard]] std::optional<RowValue> parse_row_value(std::string_view text);

/// The statistics of one row. Both are minus infinity in a row that sees no key.
struct RowStatistics {
  double maximum = 0.0;
  double log_of_sum = 0.0;  ///< ln(sum of exp(s - maximum))

  [[nodiscard]] double of(RowValue what) const;  ///< of a sum, its logarithm
};

/// Row values are compared as logarithms: a sum of exp() by its own.
[[nodiscard]] double as_logarithm(RowValue what, double value);

/// How far an output of row values is from the reference, on the CPU: what row_values.cuh finds on
/// a GPU. A value may be minus infinity (a sum 0) where the reference is, and has to be there.
/// shape: values, reference: (batch, heads, seq_len); limit: row_value_limit()
[[nodiscard]] ErrorStats compare_row_values(const std::string& output, RowValue what,
                                            std::span<const float> values,
                                            std::span<const RowStatistics> reference, double limit);

/// Greatest Euclidean norm of the rows of a tensor, whatever its layout.
[[nodiscard]] double greatest_norm(std::span<const double> elements, std::int64_t columns);

}  // namespace fatune
