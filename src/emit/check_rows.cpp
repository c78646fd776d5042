#include "emit/check_rows.hpp"

#include <limits>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::size_t kWorst = 10;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

template <auto kMember>
const auto finding = [](const CheckedRow& row) { return row.found.*kMember; };

/// The number of heads, which splits RowFinding::head into batch and head. An input that was run on
/// probe_problem() has another batch, but as many heads.
std::int64_t heads_of(const CheckedRow& row) { return row.checked->problem.heads; }

std::vector<CheckedRow> rows_of(const CheckedInput& checked, std::size_t most) {
  std::vector<CheckedRow> rows;
  for (const RowFinding& found : worst_rows(*checked.rows, most)) {
    rows.push_back({&checked, found});
  }
  return rows;
}

Json json_worst(const CheckedInput& checked) {
  return json_list(rows_of(checked, kWorst), [](const CheckedRow& row) {
    return Json{{"batch", row.found.head / heads_of(row)},
                {"head", row.found.head % heads_of(row)},
                {"row", row.found.row},
                {"mismatched", row.found.mismatched},
                {"beyond_limit", row.found.beyond_limit}};
  });
}

Json json_positions(const RowMismatches& rows) {
  std::vector<PositionCounts> wrong = count_by_position(rows);
  std::erase_if(
      wrong, [](const PositionCounts& at) { return at.mismatched == 0 && at.beyond_limit == 0; });
  return json_list(wrong, [](const PositionCounts& at) {
    return Json{{"row", at.row},
                {"rows_compared", at.rows_compared},
                {"rows_mismatched", at.rows_mismatched},
                {"rows_beyond_limit", at.rows_beyond_limit},
                {"mismatched", at.mismatched},
                {"beyond_limit", at.beyond_limit}};
  });
}

std::string headline(const CheckedInput& checked, const RowPattern& pattern) {
  return fmt::format("{}, {}, seed {}, {}: {}", describe(checked.problem), checked.config,
                     checked.seed, checked.rows->input, describe(pattern));
}

}  // namespace

const Fields<CheckedRow>& checked_row_fields() {
  static const Fields<CheckedRow> fields{
      {"problem", "problem", kProgramsOnly,
       [](const CheckedRow& r) { return describe(r.checked->problem); }},
      {"config", "config", kProgramsOnly, [](const CheckedRow& r) { return r.checked->config; }},
      {"seed", "seed", kProgramsOnly, [](const CheckedRow& r) { return r.checked->seed; }},
      {"input", "input", kProgramsOnly, [](const CheckedRow& r) { return r.checked->rows->input; }},
      {"batch", "batch", [](const CheckedRow& r) { return r.found.head / heads_of(r); }},
      {"head", "head", [](const CheckedRow& r) { return r.found.head % heads_of(r); }},
      {"row", "row", finding<&RowFinding::row>},
      {"mismatched", "mismatched", finding<&RowFinding::mismatched>},
      {"beyond_limit", "beyond limit", finding<&RowFinding::beyond_limit>},
  };
  return fields;
}

Json json_checked_rows(const CheckedInput& checked) {
  if (!checked.rows) {
    return {};
  }
  const RowPattern pattern = find_row_pattern(*checked.rows);
  return {
      {"summary", describe(pattern)},
      {"compared", pattern.rows},
      {"mismatched", pattern.rows_mismatched},
      {"beyond_limit", pattern.rows_beyond_limit},
      {"heads", pattern.heads},
      {"heads_beyond_limit", pattern.heads_beyond_limit},
      {"ranges", describe(pattern.ranges, kAll)},
      {"period", pattern.period == 0 ? Json() : Json(pattern.period)},
      {"period_ranges", pattern.period == 0 ? Json() : Json(describe(pattern.period_ranges, kAll))},
      {"worst", json_worst(checked)},
      {"positions", json_positions(*checked.rows)}};
}

Table checked_row_table(const std::vector<CheckedInput>& checks) {
  std::vector<CheckedRow> rows;
  for (const CheckedInput& checked : checks) {
    if (checked.rows) {
      const std::vector<CheckedRow> more = rows_of(checked, kAll);
      rows.insert(rows.end(), more.begin(), more.end());
    }
  }
  return table_of(checked_row_fields(), rows);
}

Blocks checked_row_blocks(const std::vector<CheckedInput>& checks) {
  Blocks blocks;
  for (const CheckedInput& checked : checks) {
    if (checked.rows) {
      const RowPattern pattern = find_row_pattern(*checked.rows);
      append(blocks, {block::Text{"\n"}, block::Line{headline(checked, pattern)}});
      if (pattern.rows_beyond_limit > 0) {
        append(blocks, {block::Text{"\n"},
                        block::Rows{table_of(checked_row_fields(), rows_of(checked, kWorst))}});
      }
    }
  }
  return blocks;
}

}  // namespace fatune
