#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "attention/problem_details.hpp"
#include "core/outcome.hpp"
#include "emit/document/table.hpp"

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

/// The fields of a row's error statistics. `mismatched`: which outputs show the number of
/// mismatches.
template <typename Row>
Fields<Row> error_fields(Shown mismatched) {
  return {
      {"input", "input", stat<&ErrorStats::input>},
      {"output", "output", kProgramsOnly, stat<&ErrorStats::output>},
      {"max_abs_error", "max err", Look{.decimals = 6}, stat<&ErrorStats::max_abs_error>},
      {"max_abs_difference", "max diff", Look{.decimals = 6},
       stat<&ErrorStats::max_abs_difference>},
      {"limit", "limit", Look{.decimals = 6}, stat<&ErrorStats::limit>},
      {"percent_of_limit", "% of it", Look{.decimals = 1}, percent_of_limit},
      {"elements", "elements", kProgramsOnly, stat<&ErrorStats::elements>},
      {"mismatched", "mismatched", Look{.shown = mismatched}, stat<&ErrorStats::mismatched>},
  };
}

template <typename Row, auto kValueOf, std::size_t kIndex>
FieldValue detail_field(const Row& row) {
  const std::optional<DetailValue> found = kValueOf(row, kProblemDetails.at(kIndex));
  return found ? std::visit([](const auto& value) { return FieldValue{value}; }, *found)
               : FieldValue{};
}

/// A field for each of the problem's details. `kValueOf` gets a row's value for a detail: a
/// function std::optional<DetailValue>(const Row&, const ProblemDetail&).
template <typename Row, auto kValueOf>
Fields<Row> detail_fields(Shown shown = kForPrograms) {
  return [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return Fields<Row>{{kProblemDetails.at(kIndex).name, kProblemDetails.at(kIndex).name,
                        Look{.decimals = 4, .shown = shown},
                        detail_field<Row, kValueOf, kIndex>}...};
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(kProblemDetails)>>{});
}

}  // namespace fatune
