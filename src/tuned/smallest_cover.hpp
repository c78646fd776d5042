#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace fatune {

/// The cost of a candidate that does not serve a row.
inline constexpr double kNotServed = std::numeric_limits<double>::infinity();

/// Costs of serving each row (outer) by each candidate (inner): finite and not negative, or
/// kNotServed. All rows are as long; each is served by a candidate.
using ServingCosts = std::vector<std::vector<double>>;

/// The candidates, ascending, that serve every row and are the fewest that do; of several such
/// sets, one with the least sum of the rows' least costs. Found by lp_solve's branch and bound.
/// Nothing when that takes longer than `limit_s` seconds.
[[nodiscard]] std::optional<std::vector<std::size_t>> smallest_cover(const ServingCosts& costs,
                                                                     long limit_s = 10);

/// A set that serves every row: again and again the candidate that serves the most rows which none
/// serves yet; of several, that with the least sum of costs on these, then the first. Ascending.
[[nodiscard]] std::vector<std::size_t> greedy_cover(const ServingCosts& costs);

}  // namespace fatune
