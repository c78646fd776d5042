#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "emit/document/text_table.hpp"

namespace fatune {

/// A value to be output. monostate: there is none (JSON null, an empty cell).
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// Which outputs show a field. CSV and JSON show all of them.
enum class Shown {
  everywhere,    ///< every table for people has it
  in_ranking,    ///< tables of results with a rank have it
  in_failures,   ///< tables of results without a rank have it
  for_programs,  ///< CSV and JSON only
};
inline constexpr Shown kEverywhere = Shown::everywhere;
inline constexpr Shown kInRanking = Shown::in_ranking;
inline constexpr Shown kInFailures = Shown::in_failures;
inline constexpr Shown kForPrograms = Shown::for_programs;

/// The type of a field's values.
struct FieldType {
  enum class Kind { any, boolean, integer, number, text };
  Kind kind = Kind::any;
  bool may_be_none = false;  ///< optional, or a floating-point number, which may not be finite
};

template <typename Value>
struct TypeOfField {
  static constexpr FieldType kType{std::is_same_v<Value, bool>       ? FieldType::Kind::boolean
                                   : std::is_integral_v<Value>       ? FieldType::Kind::integer
                                   : std::is_floating_point_v<Value> ? FieldType::Kind::number
                                   : std::is_convertible_v<Value, std::string_view>
                                       ? FieldType::Kind::text
                                       : FieldType::Kind::any,
                                   std::is_floating_point_v<Value>};
  static FieldValue value(const Value& value) {
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      return static_cast<std::int64_t>(value);
    } else if constexpr (std::is_same_v<Value, std::string_view>) {
      return std::string(value);
    } else {
      return value;
    }
  }
};
template <typename Value>
struct TypeOfField<std::optional<Value>> {
  static constexpr FieldType kType{TypeOfField<Value>::kType.kind, true};
  static FieldValue value(const std::optional<Value>& value) {
    return value ? TypeOfField<Value>::value(*value) : FieldValue{};
  }
};

/// Gets a row's value for a field. It is made from a lambda without captures, whose return type is
/// the field's type, or from a function that returns a FieldValue of any type.
template <typename Row>
class FieldGetter {
 public:
  // NOLINTBEGIN(google-explicit-constructor): it stands for what it is made of in lists of fields
  template <typename Get, typename Value = std::invoke_result_t<Get, const Row&>>
  requires std::is_empty_v<Get> FieldGetter(Get /*get*/)
      : type_(TypeOfField<Value>::kType), get_(value_of<Get, Value>) {}
  FieldGetter(FieldValue (*get)(const Row&)) : get_(get) {}
  // NOLINTEND(google-explicit-constructor)

  FieldValue operator()(const Row& row) const { return get_(row); }
  [[nodiscard]] FieldType type() const { return type_; }

 private:
  template <typename Get, typename Value>
  static FieldValue value_of(const Row& row) {
    return TypeOfField<Value>::value(Get{}(row));
  }

  FieldType type_;
  FieldValue (*get_)(const Row&);
};

/// One column of one kind of row. A list of these is the only description of an output: JSON,
/// CSV, Markdown and the terminal table are all printed from it, and the JSON Schema is written
/// from it.
template <typename Row>
struct Field {
  std::string_view name;     ///< JSON key and CSV column; with its unit
  std::string_view heading;  ///< short heading of table and Markdown columns
  std::string_view doc;      ///< the field's description in the output's JSON Schema
  int decimals;              ///< decimals of doubles in table and Markdown cells
  Shown shown;
  FieldGetter<Row> get;
  ColumnFit fit{};  ///< how its column gives way on a terminal
};

/// Lets the decimals depend on the number: none from 10000 on, otherwise two.
inline constexpr int kBySize = -1;

/// Field::get for a field that is a member of the row.
template <auto kMember>
inline const auto member = [](const auto& row) { return row.*kMember; };

/// A field's value in a table or Markdown cell; "-" when there is none.
[[nodiscard]] std::string cell_text(const FieldValue& value, int decimals);
/// The value's text in CSV. For a number this is the shortest text that reads back as the same
/// number. Empty if there is no value or the number is not finite. A text that a spreadsheet would
/// take for a formula begins with an apostrophe (OWASP, "CSV injection").
[[nodiscard]] std::string csv_text(const FieldValue& value);
[[nodiscard]] bool is_number(const FieldValue& value);
[[nodiscard]] bool has_value(const FieldValue& value);
[[nodiscard]] std::optional<std::string> text_or_none(std::string_view text);  ///< nullopt: empty

}  // namespace fatune
