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

/// The differences between the lists of fields with error statistics.
struct ErrorColumns {
  std::string_view input_doc;
  std::string_view error_doc;  ///< describes the difference from the exact reference
  int percent_leaves = 0;
  Shown mismatched = kEverywhere;
};

template <typename Row>
void add_error_fields(std::vector<Field<Row>>& fields, const ErrorColumns& own) {
  fields.insert(
      fields.end(),
      {{"input", "input", own.input_doc, 0, kEverywhere, stat<&ErrorStats::input>,
        ColumnFit{.leaves = 7, .once = true}},
       {"output", "output",
        "the output that was compared: O, or another output, which has only one reference", 0,
        kForPrograms, stat<&ErrorStats::output>},
       {"max_abs_error", "max err", own.error_doc, 6, kEverywhere, stat<&ErrorStats::max_abs_error>,
        ColumnFit{.leaves = 3}},
       {"max_abs_difference", "max diff", "greatest absolute difference from the 16-bit reference",
        6, kEverywhere, stat<&ErrorStats::max_abs_difference>, ColumnFit{.leaves = 4}},
       {"limit", "limit", "upper limit for max_abs_error and max_abs_difference", 6, kEverywhere,
        stat<&ErrorStats::limit>, ColumnFit{.leaves = 2}},
       {"percent_of_limit", "% of it",
        "the greater of max_abs_error and max_abs_difference, in percent of limit", 1, kEverywhere,
        percent_of_limit, ColumnFit{.leaves = own.percent_leaves}},
       {"elements", "elements", "number of elements compared", 0, kForPrograms,
        stat<&ErrorStats::elements>},
       {"mismatched", "mismatched",
        "number of elements that differ from the 16-bit reference by more than atol 1e-5, rtol "
        "1e-3",
        0, own.mismatched, stat<&ErrorStats::mismatched>,
        ColumnFit{.leaves = own.mismatched == kEverywhere ? 5 : 0}}});
}

}  // namespace fatune
