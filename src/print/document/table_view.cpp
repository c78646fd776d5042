#include "print/document/document.hpp"

#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
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

std::string_view type_text(FilterType type) {
  constexpr std::array<std::string_view, 5> kTexts{"of no known type", "true or false", "a number",
                                                   "a number", "text"};
  return kTexts.at(static_cast<std::size_t>(type));
}

/// The type of a column's values; `any` if it has none, or some of several types.
FilterType column_type(const Table& table, std::size_t column) {
  constexpr std::array kTypes{FilterType::any, FilterType::boolean, FilterType::number,
                              FilterType::number, FilterType::text};  // as FieldValue has them
  std::set<FilterType> types{table.columns[column].kind};
  for (const auto& row : types.contains(FilterType::any) ? table.rows : Table().rows) {
    types.insert(kTypes.at(row[column].index()));
  }
  types.erase(FilterType::any);
  return types.size() == 1 ? *types.begin() : FilterType::any;
}

double number_of(const FieldValue& value) {
  return std::visit(
      []<typename Value>(const Value& one) {
        if constexpr (std::is_arithmetic_v<Value>) {
          return static_cast<double>(one);
        } else {
          return kUnknown;
        }
      },
      value);
}

std::string source_text(const ExpressionTree& node) { return visible_text(node.source); }

[[noreturn]] void fail(const ExpressionTree& node, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("in the expression \"{}\": {}", source_text(node), what),
              kFilterOption,
              "text is in quotes and compared with text, as in family == 'flash_sm80'; numbers "
              "have no quotes");
}

[[noreturn]] void fail_unknown_name(const Table& table, const ExpressionTree& node) {
  const auto names = filtered(mapped(table.columns, &Table::Column::name), is_identifier);
  throw Error(ExitCode::usage, fmt::format("unknown name '{}'", source_text(node)), kFilterOption,
              fmt::format("columns are {}; text is in quotes", joined(names, ", ")));
}

/// Finds the column of a name, and makes `symbol` its index. `true` and `false` become numbers.
FilterType type_of_name(const Table& table, ExpressionTree& node) {
  const auto found = std::ranges::find(table.columns, node.word, &Table::Column::name);
  if (found != table.columns.end()) {
    node.symbol = static_cast<std::size_t>(found - table.columns.begin());
    return column_type(table, node.symbol);
  }
  if (node.word != "true" && node.word != "false") {
    fail_unknown_name(table, node);
  }
  node.kind = ExpressionTree::Kind::number;
  node.number = node.word == "true" ? 1.0 : 0.0;
  return FilterType::boolean;
}

/// Throws unless two operands are both text or neither is.
void check_alike(const ExpressionTree& node, std::span<const FilterType> types, std::size_t a) {
  const std::size_t b = a + 1;
  const bool alike = (types[a] == FilterType::text) == (types[b] == FilterType::text);
  if (!alike && types[a] != FilterType::any && types[b] != FilterType::any) {
    fail(node,
         fmt::format("{} is {}, but {} is {}", source_text(node.operands[a]), type_text(types[a]),
                     source_text(node.operands[b]), type_text(types[b])));
  }
}

/// Throws if one of the operands is text.
void check_numbers(const ExpressionTree& node, std::span<const FilterType> types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == FilterType::text) {
      fail(node, fmt::format("{} is text, with which '{}' cannot compute",
                             source_text(node.operands[i]), visible_text(node.word)));
    }
  }
}

/// Returns the type of the values. Throws Error(usage) for unknown names and for operands of a
/// wrong type.
FilterType type_of(const Table& table, ExpressionTree& node) {
  std::vector<FilterType> types;
  for (ExpressionTree& operand : node.operands) {
    types.push_back(type_of(table, operand));
  }
  switch (node.kind) {
    case ExpressionTree::Kind::number:
      return FilterType::number;
    case ExpressionTree::Kind::text:
      return FilterType::text;
    case ExpressionTree::Kind::name:
      return type_of_name(table, node);
    case ExpressionTree::Kind::conditional:
      check_alike(node, types, 1);
      check_numbers(node, std::span(types).first(1));
      return types[1];
    case ExpressionTree::Kind::operation:
      break;
  }
  if (compares(node)) {
    check_alike(node, types, 0);
    return FilterType::boolean;
  }
  check_numbers(node, types);
  return FilterType::number;
}

/// A number (of a condition: 0 or 1, NaN: unknown), or a text.
using FilterValue = std::variant<double, std::string_view>;

double number_in(const FilterValue& value) {
  const auto* found = std::get_if<double>(&value);
  return found == nullptr ? kUnknown : *found;
}

/// The value of a part of a condition. Precondition: type_of() accepts the condition.
FilterValue value_of(const ExpressionTree& node, const std::vector<FieldValue>& record) {
  const auto operand = [&](std::size_t i) { return value_of(node.operands[i], record); };
  if (node.kind == ExpressionTree::Kind::number) {
    return node.number;
  }
  if (node.kind == ExpressionTree::Kind::text) {
    return std::string_view(node.word);
  }
  if (node.kind == ExpressionTree::Kind::name) {
    const auto* const text = std::get_if<std::string>(&record[node.symbol]);
    return text == nullptr ? FilterValue(number_of(record[node.symbol])) : std::string_view(*text);
  }
  if (node.kind == ExpressionTree::Kind::conditional) {
    const double condition = number_in(operand(0));
    return std::isnan(condition) ? kUnknown : operand(condition != 0.0 ? 1 : 2);
  }
  const std::vector<FilterValue> values =
      mapped(node.operands, [&](const ExpressionTree& one) { return value_of(one, record); });
  if (compares(node) && values[0].index() == 1 && values[1].index() == 1) {
    const std::string a(std::get<std::string_view>(values[0]));
    const std::string b(std::get<std::string_view>(values[1]));
    return node.operation->of(
        std::array{NaturalOrder()(b, a) ? 1.0 : 0.0, NaturalOrder()(a, b) ? 1.0 : 0.0});
  }
  return node.operation->of(mapped(values, number_in));
}

/// Drops the rows for which the expression does not hold or is unknown. It may use columns whose
/// names are identifiers, `true` and `false`. Texts are quoted, and compare in sorting order.
void filter_rows(Table& table, const std::string& expression) {
  ExpressionTree condition = parse_expression(expression, ExpressionPlace::option, kFilterOption);
  if (type_of(table, condition) == FilterType::text) {
    fail(condition, fmt::format("{} is text, not a condition", source_text(condition)));
  }
  std::erase_if(table.rows, [&](const std::vector<FieldValue>& record) {
    const double result = number_in(value_of(condition, record));
    return std::isnan(result) || result == 0.0;
  });
}

std::size_t column_of(const Table& table, const std::string& name, const char* option) {
  const auto found = std::ranges::find(table.columns, name, &Table::Column::name);
  if (found == table.columns.end()) {
    throw Error(ExitCode::usage, fmt::format("there is no column '{}'", visible_text(name)), option,
                "columns are " + joined(table.columns, ", ", &Table::Column::name));
  }
  return static_cast<std::size_t>(found - table.columns.begin());
}

/// Orders numbers by size, texts in natural order, and numbers before texts.
bool is_less(const FieldValue& a, const FieldValue& b) {
  const auto* text_a = std::get_if<std::string>(&a);
  const auto* text_b = std::get_if<std::string>(&b);
  return text_a != nullptr && text_b != nullptr   ? NaturalOrder()(*text_a, *text_b)
         : text_a != nullptr || text_b != nullptr ? text_a == nullptr
                                                  : number_of(a) < number_of(b);
}

/// Sorts rows by a column. Rows without a value come last in both directions.
void sort_rows(Table& table, const std::string& name, bool descending) {
  const std::size_t column = column_of(table, name, "--sort");
  const auto without =
      std::stable_partition(table.rows.begin(), table.rows.end(),
                            [&](const auto& row) { return has_value(row[column]); });
  std::stable_sort(table.rows.begin(), without, [&](const auto& a, const auto& b) {
    return descending ? is_less(b[column], a[column]) : is_less(a[column], b[column]);
  });
}

Table with_columns(const Table& table, const std::vector<std::string>& names) {
  Table chosen;
  chosen.rows.resize(table.rows.size());
  for (const std::string& name : names) {
    const std::size_t at = column_of(table, name, "--columns");
    std::vector<FieldValue> values = mapped(table.rows, [&](const auto& row) { return row[at]; });
    const bool is_empty = std::ranges::none_of(values, has_value);
    append_column(chosen, table.columns[at], std::move(values));
    chosen.columns.back().look.shown = Shown::everywhere;
    chosen.columns.back().figure = is_empty;  // shown although it is empty
  }
  return chosen;
}

/// Shows every column that any table for people shows.
Table for_people(Table table) {
  for (Table::Column& column : table.columns) {
    if (column.look.shown != Shown::for_programs) {
      column.look.shown = Shown::everywhere;
    }
    column.heading = column.heading.empty() ? column.name : column.heading;
  }
  return table;
}

Blocks warnings_and(const Blocks& all, block::Rows rows) {
  Blocks blocks;
  for (const Block& block : all) {
    if (std::holds_alternative<block::Warning>(block)) {
      append(blocks, {block, block::ParagraphEnd{}});
    }
  }
  blocks.emplace_back(std::move(rows));
  return blocks;
}

}  // namespace

Table viewed(Table table, const TableView& view) {
  if (!view.filter.empty()) {
    filter_rows(table, view.filter);
  }
  if (!view.sort.empty()) {
    sort_rows(table, view.sort, view.descending);
  }
  if (!view.columns.empty()) {
    return with_columns(table, view.columns);
  }
  return table;
}

Document viewed(const Document& document, const TableView& view) {
  const auto records = [&document, view] { return viewed(document.records(), view); };
  return {[&document, records, top = view.top] {
            Table table = for_people(records());
            const std::size_t all = table.rows.size();
            table.rows.resize(count_shown(all, top));
            const std::size_t more = all - table.rows.size();
            return warnings_and(document.for_people(),
                                {.table = std::move(table), .kind = kInRanking, .more = more});
          },
          records,
          [records] {
            const Table table = records();
            return json_document("records",
                                 {{"records", json_list(table.rows, [&](const auto& row) {
                                     return json_record(table, row);
                                   })}});
          }};
}

Json json_record(const Table& records, const std::vector<FieldValue>& row) {
  Json record = Json::object();
  for (std::size_t i = 0; i < row.size(); ++i) {
    record[records.columns[i].name] = json_value(row[i]);
  }
  return record;
}

std::string json_lines(const Table& records) {
  return joined(records.rows, "",
                [&](const auto& row) { return json_line(json_record(records, row)); });
}

}  // namespace fatune
