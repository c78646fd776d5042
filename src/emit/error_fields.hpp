#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/outcome.hpp"
#include "emit/document/field.hpp"

namespace fatune {

/// A member of the error statistics that a row may have.
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

/// What the lists of fields with error statistics say in ways of their own.
struct ErrorColumns {
  std::string_view input_doc;
  std::string_view error_doc;  ///< of the difference to the exact reference
  int percent_leaves = 0;
  Shown mismatched = kEverywhere;
};

template <typename Row>
void add_error_fields(std::vector<Field<Row>>& fields, const ErrorColumns& own) {
  fields.insert(
      fields.end(),
      {{"input", "input", own.input_doc, 0, kEverywhere, stat<&ErrorStats::input>,
        ColumnFit{.leaves = 7, .once = true}},
       {"output", "output", "what is compared: O, or an output beside it, which has one reference",
        0, kForPrograms, stat<&ErrorStats::output>},
       {"max_abs_error", "max err", own.error_doc, 6, kEverywhere, stat<&ErrorStats::max_abs_error>,
        ColumnFit{.leaves = 3}},
       {"max_abs_difference", "max diff", "the same to the 16-bit reference", 6, kEverywhere,
        stat<&ErrorStats::max_abs_difference>, ColumnFit{.leaves = 4}},
       {"limit", "limit", "the most that both may be", 6, kEverywhere, stat<&ErrorStats::limit>,
        ColumnFit{.leaves = 2}},
       {"percent_of_limit", "% of it", "the greater of both, as a part of the limit", 1,
        kEverywhere, percent_of_limit, ColumnFit{.leaves = own.percent_leaves}},
       {"elements", "elements", "compared", 0, kForPrograms, stat<&ErrorStats::elements>},
       {"mismatched", "mismatched", "elements beyond atol 1e-5, rtol 1e-3 of the 16-bit reference",
        0, own.mismatched, stat<&ErrorStats::mismatched>,
        ColumnFit{.leaves = own.mismatched == kEverywhere ? 5 : 0}}});
}

}  // namespace fatune
