#include "emit/document/table_view.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"
#include "core/visible_text.hpp"

namespace fatune {
namespace {

std::size_t column_of(const Table& table, const std::string& name, const char* option) {
  const auto found = std::ranges::find(table.columns, name, &Table::Column::name);
  if (found == table.columns.end()) {
    throw Error(ExitCode::usage, fmt::format("there is no column '{}'", visible_text(name)), option,
                "columns are " + joined(table.columns, ", ", &Table::Column::name));
  }
  return static_cast<std::size_t>(found - table.columns.begin());
}

double number_of(const FieldValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const auto* flag = std::get_if<bool>(&value);
  return integer != nullptr ? static_cast<double>(*integer)
         : real != nullptr  ? *real
         : flag != nullptr  ? static_cast<double>(*flag)
                            : std::nan("");
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
    std::vector<FieldValue> values;
    for (const auto& row : table.rows) {
      values.push_back(row[at]);
    }
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
            Json json = json_head("records");
            json["records"] =
                json_list(table.rows, [&](const auto& row) { return json_record(table, row); });
            return json;
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
  std::string text;
  for (const auto& row : records.rows) {
    text += json_line(json_record(records, row));
  }
  return text;
}

}  // namespace fatune
