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

const std::vector<Field<CheckedRow>>& checked_row_fields() {
  static const std::vector<Field<CheckedRow>> fields{
      {"problem", "problem",
       "the problem that the configuration was run on, e.g. b16 s4096 h16 d128 FP16", 0,
       kForPrograms, [](const CheckedRow& r) { return describe(r.checked->problem); }},
      {"config", "config", "the configuration's short form", 0, kForPrograms,
       [](const CheckedRow& r) { return r.checked->config; }},
      {"seed", "seed", "seed of the random inputs", 0, kForPrograms,
       [](const CheckedRow& r) { return r.checked->seed; }},
      {"input", "input", "kind of input", 0, kForPrograms,
       [](const CheckedRow& r) { return r.checked->rows->input; }},
      {"batch", "batch", "number of the sequence in the batch, from 0", 0, kEverywhere,
       [](const CheckedRow& r) { return r.found.head / heads_of(r); }},
      {"head", "head", "number of the attention head, from 0", 0, kEverywhere,
       [](const CheckedRow& r) { return r.found.head % heads_of(r); }},
      {"row", "row", "position of the row in the sequence", 0, kEverywhere,
       finding<&RowFinding::row>},
      {"mismatched", "mismatched",
       "number of elements of the row that differ by more than atol 1e-5, rtol 1e-3", 0,
       kEverywhere, finding<&RowFinding::mismatched>},
      {"beyond_limit", "beyond limit", "number of elements of the row beyond the limit of the rule",
       0, kEverywhere, finding<&RowFinding::beyond_limit>},
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
