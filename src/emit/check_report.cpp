#include "emit/check_report.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/check_rows.hpp"
#include "emit/coverage.hpp"
#include "emit/error_fields.hpp"

namespace fatune {
namespace {

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

Json json_finding(const SanitizerFinding& finding) {
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

Json json_check(const CheckedInput& row) {
  Json json = json_object(checked_input_fields(), row);
  json["rows"] = json_checked_rows(row);
  json["findings"] = json_list(
      row.findings, [](const SanitizerFinding& finding) { return json_finding(finding); });
  return json;
}

Json json_checks(const std::vector<CheckedInput>& rows, const Coverage& coverage) {
  Json json = json_head("check");
  json["measured"] = false;
  json["complete"] = coverage.complete;
  json["checks"] = json_list(rows, json_check);
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
  Blocks blocks{block::Text{headline(rows)}, block::Rows{table_of(checked_input_fields(), worst)},
                block::Text{end + "\n" + count_text(worst, coverage)}};
  append(blocks, checked_row_blocks(rows));
  return blocks;
}

Fields<CheckedInput> first_fields() {
  return {
      {"problem", "problem", Look{.once = true},
       [](const CheckedInput& r) { return describe(r.problem); }},
      {"config", "config", Look{.config = true}, &CheckedInput::config},
      {"seed", "seed", Look{.once = true}, &CheckedInput::seed},
      {"tool", "tool", Look{.once = true}, or_none<&CheckedInput::tool>},
      {"verified", "verified", kProgramsOnly, verified},
      {"outcome", "outcome", Look{.once = true},
       [](const CheckedInput& r) { return outcome_name(r.outcome); }},
  };
}

Fields<CheckedInput> last_fields() {
  return {
      {"mismatched_percent", "%", Look{.decimals = 3, .leaves = 1},
       [](const CheckedInput& r) {
         return r.stats ? std::optional(r.stats->mismatched_percent()) : std::nullopt;
       }},
      {"not_finite", "not finite", kProgramsOnly, stat<&ErrorStats::not_finite>},
      {"guard_bytes_changed", "stray bytes", kProgramsOnly, stat<&ErrorStats::guard_bytes_changed>},
      {"detail", "detail", kWraps, or_none<&CheckedInput::detail>},
  };
}

}  // namespace

bool is_right(const CheckedInput& checked) { return checked.outcome == OutcomeKind::right; }

bool is_emulated(const CheckedInput& checked) { return checked.tool == kEmulatorTool; }

const Fields<CheckedInput>& checked_input_fields() {
  static const Fields<CheckedInput> fields = joined_fields<CheckedInput>(
      {first_fields(), error_fields<CheckedInput>(6, kEverywhere), last_fields()});
  return fields;
}

Document check_document(const std::vector<CheckedInput>& rows, const Coverage& coverage,
                        bool with_rows) {
  return {[&rows, coverage] { return blocks_of(rows, coverage); },
          [&rows, with_rows] {
            return with_rows ? checked_row_table(rows) : table_of(checked_input_fields(), rows);
          },
          [&rows, coverage] { return json_checks(rows, coverage); }};
}

}  // namespace fatune
