#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "emit/text_table.hpp"

namespace fatune {

/// A value on its way out; monostate: there is none (JSON null, an empty cell).
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// Which outputs show a field. CSV and JSON show all of them.
enum class Shown {
  everywhere,    ///< in every table for people too
  in_ranking,    ///< in tables of what has a rank
  in_failures,   ///< in tables of what has none
  for_programs,  ///< CSV and JSON only
};
inline constexpr Shown kEverywhere = Shown::everywhere;
inline constexpr Shown kInRanking = Shown::in_ranking;
inline constexpr Shown kInFailures = Shown::in_failures;
inline constexpr Shown kForPrograms = Shown::for_programs;

/// One column of one kind of row. A list of these is the only description of an output: JSON,
/// CSV, Markdown and the terminal table are all printed from it.
template <typename Row>
struct Field {
  std::string_view name;     ///< JSON key and CSV column; with its unit
  std::string_view heading;  ///< of table and Markdown columns: short
  std::string_view doc;      ///< what it says: the description in the output's JSON Schema
  int decimals;              ///< of table and Markdown cells, for doubles
  Shown shown;
  FieldValue (*get)(const Row&);
  ColumnFit fit{};  ///< of its column on a terminal
};

/// As many decimals as a number of that size needs.
inline constexpr int kBySize = -1;

/// Field::get of a field that is a member.
template <auto kMember, typename Row>
FieldValue member(const Row& row) {
  return FieldValue{row.*kMember};
}

/// A field's value in a table or Markdown cell; "-" when there is none.
[[nodiscard]] std::string cell_text(const FieldValue& value, int decimals);
/// The value's text in CSV: shortest text that reads back as the same number; empty when there is
/// none, or when it is not finite.
[[nodiscard]] std::string csv_text(const FieldValue& value);
[[nodiscard]] bool is_number(const FieldValue& value);
[[nodiscard]] bool has_value(const FieldValue& value);
[[nodiscard]] FieldValue text_or_none(const std::string& text);  ///< no value when it is empty
template <typename T>
FieldValue value_or_none(const std::optional<T>& value) {
  return value ? FieldValue{*value} : FieldValue{};
}

}  // namespace fatune
