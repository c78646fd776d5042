#include "attention/row_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace fatune {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Counts one value. Both arguments are logarithms.
void count_value(double value, double reference, ErrorStats& stats) {
  const bool no_logarithm = !(value < -kNone);
  stats.not_finite += no_logarithm || (value == kNone && reference != kNone) ? 1 : 0;
  if (no_logarithm || value == kNone || reference == kNone) {
    stats.mismatched += value == reference ? 0 : 1;
    return;
  }
  const double error = std::abs(value - reference);
  stats.max_abs_error = std::max(stats.max_abs_error, error);
  stats.mismatched += error <= stats.limit ? 0 : 1;
}

}  // namespace

double RowStatistics::of(RowValue what) const {
  return what == RowValue::maximum ? maximum
         : what == RowValue::sum   ? log_of_sum
                                   : maximum + log_of_sum;
}

double as_logarithm(RowValue what, double value) {
  return what == RowValue::sum ? std::log(value) : value;
}

ErrorStats compare_row_values(const std::string& output, RowValue what,
                              std::span<const float> values,
                              std::span<const RowStatistics> reference, double limit) {
  ErrorStats stats;
  stats.output = output;
  stats.limit = limit;
  stats.elements = static_cast<std::int64_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    count_value(as_logarithm(what, static_cast<double>(values[i])), reference[i].of(what), stats);
  }
  return stats;
}

double greatest_norm(std::span<const double> elements, std::int64_t columns) {
  double greatest = 0.0;
  for (std::size_t i = 0; i < elements.size(); i += static_cast<std::size_t>(columns)) {
    const auto row = elements.subspan(i, static_cast<std::size_t>(columns));
    greatest = std::max(greatest, std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
  }
  return std::sqrt(greatest);
}

}  // namespace fatune
