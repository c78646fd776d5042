#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/enum_names.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// The outputs that a kernel may write in addition to O: an fp32 number for each row of scores s =
/// softmax_scale * q.k. The enumerators' values are passed to kernels/reference/row_values.cuh.
enum class RowValue : int {
  log_sum_exp = 0,  ///< ln(sum of exp(s))
  maximum = 1,      ///< the greatest s
  sum = 2           ///< sum of exp(s - maximum)
};

/// The names that families use.
template <>
inline constexpr EnumNames<3> kEnumNames<RowValue>{"row value", {"lse", "row_max", "row_sum"}};

/// The statistics of one row. Both are minus infinity in a row that sees no key.
struct RowStatistics {
  double maximum = 0.0;
  double log_of_sum = 0.0;  ///< ln(sum of exp(s - maximum))

  [[nodiscard]] double of(RowValue what) const;  ///< a sum is returned as its logarithm
};

/// Row values are compared as logarithms. Returns the logarithm of a sum, and other values
/// unchanged.
[[nodiscard]] double as_logarithm(RowValue what, double value);

/// Compares an output of row values with the reference on the CPU, as row_values.cuh does on a GPU.
/// A value must be minus infinity (a sum 0) exactly where the reference is.
/// shape: values, reference: (batch, heads, seq_len); limit: row_value_limit()
[[nodiscard]] ErrorStats compare_row_values(const std::string& output, RowValue what,
                                            std::span<const float> values,
                                            std::span<const RowStatistics> reference, double limit);

/// The greatest Euclidean norm of the rows of a tensor, whatever its layout.
[[nodiscard]] double greatest_norm(std::span<const double> elements, std::int64_t columns);

}  // namespace fatune
