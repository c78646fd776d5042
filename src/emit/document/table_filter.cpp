#include "emit/document/table_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
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

using Record = std::vector<FieldValue>;

double number(const FilterValue& value) {
  const auto* found = std::get_if<double>(&value);
  return found == nullptr ? kUnknown : *found;
}

/// A condition or a part of one: the type of its values, and its value for a row.
struct Operand {
  FilterType type;
  std::function<FilterValue(const Record&)> value;
};
using Operands = std::vector<Operand>;

std::vector<double> numbers_of(const Operands& parts, const Record& record) {
  return mapped(parts, [&](const Operand& part) { return number(part.value(record)); });
}

std::string source_text(const ExpressionTree& node) { return visible_text(node.source); }

[[noreturn]] void fail(const ExpressionTree& node, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("in the expression \"{}\": {}", source_text(node), what),
              kFilterOption,
              "text is in quotes and compared with text, as in family == 'flash_sm80'; numbers "
              "have no quotes");
}

/// Throws unless two operands are both text or neither is.
void check_alike(const ExpressionTree& node, const Operands& parts, std::size_t a, std::size_t b) {
  const FilterType left = parts[a].type;
  const FilterType right = parts[b].type;
  const bool alike = (left == FilterType::text) == (right == FilterType::text);
  if (!alike && left != FilterType::any && right != FilterType::any) {
    fail(node, fmt::format("{} is {}, but {} is {}", source_text(node.operands[a]), type_text(left),
                           source_text(node.operands[b]), type_text(right)));
  }
}

/// Throws if one of the first `count` operands is text.
void check_numbers(const ExpressionTree& node, const Operands& parts, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (parts[i].type == FilterType::text) {
      fail(node, fmt::format("{} is text, with which '{}' cannot compute",
                             source_text(node.operands[i]), visible_text(node.word)));
    }
  }
}

Operand conditional(const ExpressionTree& node, Operands parts) {
  check_alike(node, parts, 1, 2);
  check_numbers(node, parts, 1);
  const FilterType type = parts[1].type;
  return {type, [parts = std::move(parts)](const Record& record) {
            const double condition = number(parts[0].value(record));
            return std::isnan(condition) ? FilterValue(kUnknown)
                                         : parts[condition != 0.0 ? 1 : 2].value(record);
          }};
}

/// The operation on two texts compares their order.
Operand comparison(const ExpressionTree& node, Operands parts) {
  check_alike(node, parts, 0, 1);
  return {FilterType::boolean, [&node, parts = std::move(parts)](const Record& record) {
            const FilterValue left = parts[0].value(record);
            const FilterValue right = parts[1].value(record);
            const auto* a = std::get_if<std::string_view>(&left);
            const auto* b = std::get_if<std::string_view>(&right);
            return a != nullptr && b != nullptr
                       ? node.operation->of(ordered(*a, *b))
                       : node.operation->of(std::array{number(left), number(right)});
          }};
}

Operand computation(const ExpressionTree& node, Operands parts) {
  check_numbers(node, parts, parts.size());
  return {FilterType::number, [&node, parts = std::move(parts)](const Record& record) {
            return node.operation->of(numbers_of(parts, record));
          }};
}

Operand column_or_constant(const Table& table, const ExpressionTree& node) {
  const auto found = std::ranges::find(table.columns, node.word, &Table::Column::name);
  if (found != table.columns.end()) {
    const auto column = static_cast<std::size_t>(found - table.columns.begin());
    return {column_type(table, column),
            [column](const Record& record) { return value_of(record[column]); }};
  }
  if (node.word == "true" || node.word == "false") {
    return {FilterType::boolean,
            [value = node.word == "true" ? 1.0 : 0.0](const Record&) { return value; }};
  }
  std::vector<std::string> names;
  for (const Table::Column& column : table.columns) {
    if (is_identifier(column.name)) {
      names.push_back(column.name);
    }
  }
  throw Error(ExitCode::usage, fmt::format("unknown name '{}'", source_text(node)), kFilterOption,
              fmt::format("columns are {}; text is in quotes", joined(names, ", ")));
}

/// Throws Error(usage) for unknown names and for operands of a wrong type. The result refers to the
/// nodes.
Operand operand_of(const Table& table, const ExpressionTree& node) {
  Operands parts =
      mapped(node.operands, [&](const ExpressionTree& one) { return operand_of(table, one); });
  switch (node.kind) {
    case ExpressionTree::Kind::number:
      return {FilterType::number, [&node](const Record&) { return node.number; }};
    case ExpressionTree::Kind::text:
      return {FilterType::text, [&node](const Record&) { return std::string_view(node.word); }};
    case ExpressionTree::Kind::name:
      return column_or_constant(table, node);
    case ExpressionTree::Kind::conditional:
      return conditional(node, std::move(parts));
    case ExpressionTree::Kind::operation:
      break;
  }
  return compares(node) ? comparison(node, std::move(parts)) : computation(node, std::move(parts));
}

}  // namespace

void filter_rows(Table& table, const std::string& expression) {
  const ExpressionTree condition =
      parse_expression(expression, ExpressionPlace::option, kFilterOption);
  const Operand filter = operand_of(table, condition);
  if (filter.type == FilterType::text) {
    fail(condition, fmt::format("{} is text, not a condition", source_text(condition)));
  }
  std::erase_if(table.rows, [&](const Record& record) {
    const double result = number(filter.value(record));
    return std::isnan(result) || result == 0.0;
  });
}

}  // namespace fatune
