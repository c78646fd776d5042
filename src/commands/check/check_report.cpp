#include "commands/check/check_report.hpp"

#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "model/row_sample.hpp"
#include "print/quantization_report.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

/// A row of the output of one check.
struct CheckedRow {
  const CheckedInput* checked = nullptr;
  RowFinding found;
};

constexpr std::size_t kWorst = 10;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

template <auto kMember>
const auto finding = [](const CheckedRow& row) { return row.found.*kMember; };

/// The number of heads, which splits RowFinding::head into batch and head. An input that was run on
/// probe_problem() has another batch, but as many heads.
std::int64_t heads_of(const CheckedRow& row) { return row.checked->problem.heads; }

std::vector<CheckedRow> rows_of(const CheckedInput& checked, std::size_t most) {
  return mapped(worst_rows(*checked.rows, most), [&](const RowFinding& found) {
    return CheckedRow{&checked, found};
  });
}

/// The columns of the tables of the worst rows.
Fields<CheckedRow> row_fields() {
  return {
      {"batch", "batch", [](auto& r) { return r.found.head / heads_of(r); }},
      {"head", "head", [](auto& r) { return r.found.head % heads_of(r); }},
      {"row", "row", finding<&RowFinding::row>},
      {"mismatched", "mismatched", finding<&RowFinding::mismatched>},
      {"beyond_limit", "beyond limit", finding<&RowFinding::beyond_limit>},
  };
}

/// The columns of the CSV of `check --diff`.
Fields<CheckedRow> checked_row_fields() {
  return joined_fields<CheckedRow>(
      {{
           {"problem", "problem", kProgramsOnly,
            [](auto& r) { return describe(r.checked->problem); }},
           {"config", "config", kProgramsOnly, [](auto& r) { return r.checked->config; }},
           {"seed", "seed", kProgramsOnly, [](auto& r) { return r.checked->seed; }},
           {"input", "input", kProgramsOnly, [](auto& r) { return r.checked->rows->input; }},
       },
       row_fields()});
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

std::string rows_headline(const CheckedInput& checked, const RowPattern& pattern) {
  return fmt::format("{}, {}, seed {}, {}: {}", describe(checked.problem), checked.config,
                     checked.seed, checked.rows->input, describe(pattern));
}

/// The member `rows` of a check: what the rows have in common, the worst of them, and counts for
/// every position with a mismatch. null when the rows were not counted.
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
      {"worst", json_rows(row_fields(), rows_of(checked, kWorst))},
      {"positions", json_positions(*checked.rows)}};
}

/// A table of every row with a mismatch.
Table checked_row_table(const std::vector<CheckedInput>& checks) {
  std::vector<CheckedRow> rows;
  for (const CheckedInput& checked : checks) {
    if (checked.rows) {
      append(rows, rows_of(checked, kAll));
    }
  }
  return table_of(checked_row_fields(), rows);
}

/// A line for each check whose rows were counted, which says what the wrong rows have in common. If
/// there are wrong rows, a table of the worst ones follows.
Blocks checked_row_blocks(const std::vector<CheckedInput>& checks) {
  Blocks blocks;
  for (const CheckedInput& checked : checks) {
    if (checked.rows) {
      const RowPattern pattern = find_row_pattern(*checked.rows);
      append(blocks, {block::Text{"\n"}, block::Line{rows_headline(checked, pattern)}});
      if (pattern.rows_beyond_limit > 0) {
        append(blocks,
               {block::Text{"\n"}, block::Rows{table_of(row_fields(), rows_of(checked, kWorst))}});
      }
    }
  }
  return blocks;
}

/// The greater of both errors as a fraction of the limit; infinite if something else is wrong.
double share_of_limit(const CheckedInput& row) {
  if (!is_right(row) || !row.stats) {
    return std::numeric_limits<double>::infinity();
  }
  if (row.stats->limit <= 0.0) {
    return 0.0;  // an output of which nothing is compared
  }
  return std::max(row.stats->max_abs_error, row.stats->max_abs_difference) / row.stats->limit;
}

bool same_run(const CheckedInput& a, const CheckedInput& b) {
  return a.problem == b.problem && a.config == b.config && a.seed == b.seed && a.tool == b.tool;
}

const auto verified = [](const CheckedInput& row) {
  return !is_right(row)     ? std::nullopt
         : is_emulated(row) ? std::optional(std::string("emulated"))
                            : std::optional(std::string("gpu"));
};

/// The worst of each group of neighbouring rows for which same_run() holds.
std::vector<CheckedInput> worst_rows(const std::vector<CheckedInput>& rows) {
  std::vector<CheckedInput> worst;
  for (const CheckedInput& row : rows) {
    if (worst.empty() || !same_run(worst.back(), row)) {
      worst.push_back(row);
    } else if (share_of_limit(row) > share_of_limit(worst.back())) {
      worst.back() = row;
    }
  }
  return worst;
}

Json json_sanitizer_finding(const SanitizerFinding& finding) {
  const auto said = [](const auto& value) { return value.empty() ? Json() : Json(value); };
  return {{"kind", finding.kind},
          {"what", finding.what},
          {"kernel", said(finding.kernel)},
          {"place", said(finding.place)},
          {"against", finding.against},
          {"space", said(finding.space)},
          {"size_bytes", finding.size_bytes == 0 ? Json() : Json(finding.size_bytes)},
          {"thread", said(finding.thread)},
          {"block", said(finding.block)},
          {"detail", said(finding.detail)},
          {"count", finding.count},
          {"group", finding.group == 0 ? Json() : Json(finding.group)}};
}

const ErrorStats* stats_of(const CheckedInput& row) { return row.stats ? &*row.stats : nullptr; }

Fields<CheckedInput> fields_of(const std::vector<CheckedInput>& rows) {
  return with_quantization_if_any(rows, stats_of, checked_input_fields());
}

Json json_check(const CheckedInput& row) {
  Json json = json_object(fields_of({row}), row);
  json["rows"] = json_checked_rows(row);
  json["findings"] = json_list(row.findings, json_sanitizer_finding);
  return json;
}

std::string headline(const std::vector<CheckedInput>& rows) {
  return std::ranges::any_of(rows, is_emulated)
             ? "EMULATED on the CPU, not run on a GPU (docs/emulate.md): problems are small ones "
               "that stand in for those requested\n\n"
             : "";
}

std::string count_text(const std::vector<CheckedInput>& worst, const Coverage& coverage) {
  const auto count = [&](auto&& matches) { return std::ranges::count_if(worst, matches); };
  const auto not_compiled =
      count([](const CheckedInput& row) { return is_without_code(row.outcome); });
  const auto wrong = count([](const CheckedInput& row) { return !is_right(row); }) - not_compiled;
  if (wrong + not_compiled == 0) {
    return coverage.complete ? fmt::format("all {} right\n", worst.size())
                             : fmt::format("{} of {} right\n", worst.size(), coverage.planned);
  }
  std::vector<std::string> parts;
  if (wrong > 0) {
    parts.push_back(fmt::format("{} of {} WRONG", wrong, worst.size()));
  }
  if (not_compiled > 0) {
    parts.push_back(fmt::format("{} of {} DID NOT COMPILE", not_compiled, worst.size()));
  }
  return fmt::format("{}\n", fmt::join(parts, ", "));
}

Blocks blocks_of(const std::vector<CheckedInput>& rows, const Coverage& coverage) {
  const std::vector<CheckedInput> worst = worst_rows(rows);
  const std::string end = incomplete_text({worst.size(), coverage.planned, coverage.complete});
  return joined_blocks(
      {{block::Text{headline(rows)}, block::Rows{table_of(checked_input_fields(), worst)},
        block::Text{end + "\n" + count_text(worst, coverage) + quantization_text(rows, stats_of)}},
       checked_row_blocks(rows)});
}

Fields<CheckedInput> first_fields() {
  return {
      {"problem", "problem", [](auto& r) { return describe(r.problem); }},
      {"config", "config", kWraps, &CheckedInput::config},
      {"seed", "seed", &CheckedInput::seed},
      {"tool", "tool", or_none<&CheckedInput::tool>},
      {"verified", "verified", kProgramsOnly, verified},
      {"outcome", "outcome", [](auto& r) { return outcome_name(r.outcome); }},
  };
}

Fields<CheckedInput> last_fields() {
  return {
      {"mismatched_percent", "%", decimals(3),
       [](auto& r) { return if_any(r.stats, &ErrorStats::mismatched_percent); }},
      {"not_finite", "not finite", kProgramsOnly, stat<&ErrorStats::not_finite>},
      {"guard_bytes_changed", "stray bytes", kProgramsOnly, stat<&ErrorStats::guard_bytes_changed>},
      {"detail", "detail", kWraps, or_none<&CheckedInput::detail>},
  };
}

}  // namespace

Fields<CheckedInput> checked_input_fields() {
  return joined_fields<CheckedInput>({first_fields(), error_fields<CheckedInput>(kEverywhere),
                                      quantization_fields<CheckedInput>(stats_of), last_fields()});
}

Document check_document(const std::vector<CheckedInput>& rows, const Coverage& coverage,
                        bool with_rows) {
  return {[&rows, coverage] { return blocks_of(rows, coverage); },
          [&rows, with_rows] {
            return with_rows ? checked_row_table(rows) : table_of(fields_of(rows), rows);
          },
          [&rows, coverage] {
            return json_document("check", {{"measured", false},
                                           {"complete", coverage.complete},
                                           {"checks", json_list(rows, json_check)}});
          }};
}

}  // namespace fatune
