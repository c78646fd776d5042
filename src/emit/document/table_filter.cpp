#include "emit/document/table_filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/ranges.hpp"
#include "core/text_parts.hpp"
#include "core/visible_text.hpp"
#include "plan/expression.hpp"
#include "plan/expression_tree.hpp"

namespace fatune {
namespace {

constexpr const char* kFilterOption = "--filter";
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using FilterType = FieldType::Kind;

bool compares(const ExpressionTree& node) {
  constexpr std::array<std::string_view, 6> kComparisons{"==", "!=", "<", "<=", ">", ">="};
  return node.kind == ExpressionTree::Kind::operation && is_among(node.word, kComparisons);
}

const char* type_text(FilterType type) {
  switch (type) {
    case FilterType::boolean:
      return "true or false";
    case FilterType::integer:
    case FilterType::number:
      return "a number";
    case FilterType::text:
      return "text";
    case FilterType::any:
      break;
  }
  return "of no known type";
}

/// The type of a column's values; `any` if it has none, or some of several types.
FilterType column_type(const Table& table, std::size_t column) {
  std::optional<FilterType> type;
  for (const auto& row : table.rows) {
    const FieldValue& value = row[column];
    if (std::holds_alternative<std::monostate>(value)) {
      continue;
    }
    const FilterType of_value = std::holds_alternative<std::string>(value) ? FilterType::text
                                : std::holds_alternative<bool>(value)      ? FilterType::boolean
                                                                           : FilterType::number;
    type = !type || *type == of_value ? of_value : FilterType::any;
  }
  return table.columns[column].kind != FilterType::any ? table.columns[column].kind
                                                       : type.value_or(FilterType::any);
}

/// A number (of a condition: 0 or 1, NaN: unknown), or a text.
using FilterValue = std::variant<double, std::string_view>;

FilterValue value_of(const FieldValue& value) {
  struct ToValue {
    FilterValue operator()(std::monostate) const { return kUnknown; }
    FilterValue operator()(const std::string& text) const { return std::string_view(text); }
    FilterValue operator()(bool flag) const { return flag ? 1.0 : 0.0; }
    FilterValue operator()(std::int64_t number) const { return static_cast<double>(number); }
    FilterValue operator()(double number) const { return number; }
  };
  return std::visit(ToValue{}, value);
}

/// The order of two texts as numbers that compare in the same way.
std::array<double, 2> ordered(std::string_view left, std::string_view right) {
  const std::string a(left);
  const std::string b(right);
  return {NaturalOrder()(b, a) ? 1.0 : 0.0, NaturalOrder()(a, b) ? 1.0 : 0.0};
}

class Filter {
 public:
  /// Throws Error(usage) for unknown names and for operands of a wrong type.
  Filter(const Table& table, const ExpressionTree& condition)
      : table_(table), condition_(condition) {
    if (checked_type(condition_) == FilterType::text) {
      fail(condition_, fmt::format("{} is text, not a condition", shown(condition_)));
    }
  }

  [[nodiscard]] bool holds(const std::vector<FieldValue>& row) const {
    const double result = number(value(condition_, row));
    return !std::isnan(result) && result != 0.0;
  }

 private:
  static std::string shown(const ExpressionTree& node) { return visible_text(node.source); }

  [[noreturn]] void fail(const ExpressionTree& node, const std::string& what) const {
    throw Error(ExitCode::usage, fmt::format("in the expression \"{}\": {}", shown(node), what),
                kFilterOption,
                "text is in quotes and compared with text, as in family == 'flash_sm90'; numbers "
                "have no quotes");
  }

  [[nodiscard]] std::optional<std::size_t> column_of(const std::string& name) const {
    const auto found = std::ranges::find(table_.columns, name, &Table::Column::name);
    return found == table_.columns.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(found - table_.columns.begin()));
  }

  static std::optional<double> constant(const std::string& name) {
    return name == "true"    ? std::optional(1.0)
           : name == "false" ? std::optional(0.0)
                             : std::nullopt;
  }

  FilterType checked_type(const ExpressionTree& node) const {
    std::vector<FilterType> types;
    for (const ExpressionTree& operand : node.operands) {
      types.push_back(checked_type(operand));
    }
    switch (node.kind) {
      case ExpressionTree::Kind::number:
        return FilterType::number;
      case ExpressionTree::Kind::text:
        return FilterType::text;
      case ExpressionTree::Kind::name:
        return name_type(node);
      case ExpressionTree::Kind::conditional:
        check_alike(node, 1, 2, types);
        check_numbers(node, {&types[0], 1});
        return types[1];
      case ExpressionTree::Kind::operation:
        break;
    }
    if (compares(node)) {
      check_alike(node, 0, 1, types);
      return FilterType::boolean;
    }
    check_numbers(node, types);
    return FilterType::number;
  }

  FilterType name_type(const ExpressionTree& node) const {
    if (const auto column = column_of(node.word)) {
      return column_type(table_, *column);
    }
    if (constant(node.word)) {
      return FilterType::boolean;
    }
    std::vector<std::string> names;
    for (const Table::Column& column : table_.columns) {
      if (is_identifier(column.name)) {
        names.push_back(column.name);
      }
    }
    throw Error(ExitCode::usage, fmt::format("unknown name '{}'", shown(node)), kFilterOption,
                fmt::format("columns are {}; text is in quotes", joined(names, ", ")));
  }

  /// Throws unless two operands are both text or neither is.
  void check_alike(const ExpressionTree& node, std::size_t a, std::size_t b,
                   const std::vector<FilterType>& types) const {
    const bool alike = (types[a] == FilterType::text) == (types[b] == FilterType::text);
    if (!alike && types[a] != FilterType::any && types[b] != FilterType::any) {
      fail(node, fmt::format("{} is {}, but {} is {}", shown(node.operands[a]), type_text(types[a]),
                             shown(node.operands[b]), type_text(types[b])));
    }
  }

  void check_numbers(const ExpressionTree& node, std::span<const FilterType> types) const {
    const auto text = std::ranges::find(types, FilterType::text);
    if (text != types.end()) {
      const auto index = static_cast<std::size_t>(text - types.begin());
      fail(node, fmt::format("{} is text, with which '{}' cannot compute",
                             shown(node.operands[index]), visible_text(node.word)));
    }
  }

  static double number(const FilterValue& value) {
    const auto* number = std::get_if<double>(&value);
    return number == nullptr ? kUnknown : *number;
  }

  FilterValue value(const ExpressionTree& node, const std::vector<FieldValue>& row) const {
    if (node.kind == ExpressionTree::Kind::number) {
      return node.number;
    }
    if (node.kind == ExpressionTree::Kind::text) {
      return std::string_view(node.word);
    }
    if (node.kind == ExpressionTree::Kind::name) {
      const auto column = column_of(node.word);
      return column ? value_of(row[*column]) : FilterValue(constant(node.word).value_or(kUnknown));
    }
    std::vector<FilterValue> values;
    for (const ExpressionTree& operand : node.operands) {
      values.push_back(value(operand, row));
    }
    if (node.kind == ExpressionTree::Kind::conditional) {
      return std::isnan(number(values[0])) ? FilterValue(kUnknown)
                                           : values[number(values[0]) != 0 ? 1 : 2];
    }
    if (compares(node) && values[0].index() == 1 && values[1].index() == 1) {
      return node.operation->of(ordered(std::get<1>(values[0]), std::get<1>(values[1])));
    }
    std::vector<double> numbers;
    for (const FilterValue& one : values) {
      numbers.push_back(number(one));
    }
    return node.operation->of(numbers);
  }

  const Table& table_;
  const ExpressionTree& condition_;
};

}  // namespace

void filter_rows(Table& table, const std::string& expression) {
  const ExpressionTree condition =
      parse_expression(expression, ExpressionPlace::option, kFilterOption);
  const Filter filter(table, condition);
  std::erase_if(table.rows, [&](const std::vector<FieldValue>& row) { return !filter.holds(row); });
}

}  // namespace fatune
