#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace fatune {

/// The cost of a candidate that does not serve a row.
inline constexpr double kNotServed = std::numeric_limits<double>::infinity();

/// Costs of serving each row (outer) by each candidate (inner): finite and not negative, or
/// kNotServed. All rows have the same length. Each is served by at least one candidate.
using ServingCosts = std::vector<std::vector<double>>;

/// Returns the fewest candidates that serve every row, ascending; of several such sets, one with
/// the least sum of the rows' least costs. It is found by lp_solve's branch and bound. Returns
/// nothing if that takes longer than `limit_s` seconds.
[[nodiscard]] std::optional<std::vector<std::size_t>> smallest_cover(const ServingCosts& costs,
                                                                     long limit_s = 10);

/// Returns a set that serves every row, ascending. Repeatedly takes the candidate that serves the
/// most rows not yet served; of several, the one with the least sum of costs on these, then the
/// first.
[[nodiscard]] std::vector<std::size_t> greedy_cover(const ServingCosts& costs);

}  // namespace fatune
