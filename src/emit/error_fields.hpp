#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/outcome.hpp"
#include "emit/document/field.hpp"

namespace fatune {

/// Gets a member of a row's error statistics; nothing if the row has none.
template <auto kMember>
inline constexpr auto stat =
    [](const auto& row) { return row.stats ? std::optional((*row.stats).*kMember) : std::nullopt; };

inline const auto percent_of_limit = [](const auto& row) {
  return row.stats && row.stats->limit > 0.0
             ? std::optional(100.0 *
                             std::max(row.stats->max_abs_error, row.stats->max_abs_difference) /
                             row.stats->limit)
             : std::nullopt;
};

/// The fields of a row's error statistics. `leaves`: when percent_of_limit leaves a narrow table.
/// `mismatched`: which outputs show the number of mismatches.
template <typename Row>
Fields<Row> error_fields(int leaves, Shown mismatched) {
  return {
      {"input", "input", Look{.leaves = 7, .once = true}, stat<&ErrorStats::input>},
      {"output", "output", kProgramsOnly, stat<&ErrorStats::output>},
      {"max_abs_error", "max err", Look{.decimals = 6, .leaves = 3},
       stat<&ErrorStats::max_abs_error>},
      {"max_abs_difference", "max diff", Look{.decimals = 6, .leaves = 4},
       stat<&ErrorStats::max_abs_difference>},
      {"limit", "limit", Look{.decimals = 6, .leaves = 2}, stat<&ErrorStats::limit>},
      {"percent_of_limit", "% of it", Look{.decimals = 1, .leaves = leaves}, percent_of_limit},
      {"elements", "elements", kProgramsOnly, stat<&ErrorStats::elements>},
      {"mismatched", "mismatched",
       Look{.shown = mismatched, .leaves = mismatched == kEverywhere ? 5 : 0},
       stat<&ErrorStats::mismatched>},
  };
}

}  // namespace fatune
