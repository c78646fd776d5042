#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "attention/problem_details.hpp"
#include "emit/field.hpp"

namespace fatune {

template <typename Row, const Problem* (*kProblemOf)(const Row&), std::size_t kIndex>
FieldValue detail_field(const Row& row) {
  const Problem* const problem = kProblemOf(row);
  return problem == nullptr ? FieldValue{}
                            : std::visit([](const auto& value) { return FieldValue{value}; },
                                         detail_value(kProblemDetails.at(kIndex), *problem));
}

/// A field for each of the problem's details. `kProblemOf`: the row's problem; null: it has none.
template <typename Row, const Problem* (*kProblemOf)(const Row&)>
void add_detail_fields(std::vector<Field<Row>>& fields) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    (fields.push_back({kProblemDetails.at(kIndex).name, kProblemDetails.at(kIndex).name,
                       kProblemDetails.at(kIndex).doc, 0, kForPrograms,
                       detail_field<Row, kProblemOf, kIndex>}),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(kProblemDetails)>>{});
}

}  // namespace fatune
