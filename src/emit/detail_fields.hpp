#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "attention/problem.hpp"
#include "emit/document/field.hpp"

namespace fatune {

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
