#include "emit/run_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/colour.hpp"
#include "emit/counter_table.hpp"
#include "emit/entry_fields.hpp"
#include "emit/field_table.hpp"
#include "emit/pruned_text.hpp"
#include "emit/results_json.hpp"
#include "emit/roofline.hpp"
#include "emit/summary_report.hpp"

namespace fatune {
namespace {

constexpr const char* kNotMeasured =
    "NOT MEASURED: no GPU was used; every time below is an estimate (docs/estimate.md)";
constexpr const char* kNotMeasuredEnd =
    "NOT MEASURED: nothing was timed; the ranking above is an estimate";

using Rows = std::vector<EntryRow>;
using Fields = std::vector<Field<EntryRow>>;

Rows rows_of(const RunReport& run, const ProblemReport& problem, const std::vector<Entry>& entries,
             std::size_t most) {
  Rows rows;
  for (std::size_t i = 0; i < std::min(entries.size(), most); ++i) {
    rows.push_back({&run, &problem, &entries[i]});
  }
  return rows;
}

void append_rows(const RunReport& report, Rows& rows) {
  for (const ProblemReport& problem : report.problems) {
    for (const auto* entries : {&problem.ranking, &problem.failures, &problem.audited}) {
      for (const Entry& entry : *entries) {
        rows.push_back({&report, &problem, &entry});
      }
    }
  }
}

Fields csv_fields() {
  Fields fields;
  for (const auto* of : {&problem_fields(), &entry_fields(), &run_fields()}) {
    fields.insert(fields.end(), of->begin(), of->end());
  }
  return fields;
}

bool has_field(const Fields& fields, const std::string& name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field<EntryRow>& field) { return field.name == name; });
}

/// Names of the families' parameters, whatever the order of the rows; those of several once.
std::vector<std::string> parameter_names(const Rows& rows) {
  std::map<std::string, const Entry*> one_of_family;
  for (const EntryRow& row : rows) {
    one_of_family.try_emplace(row.entry->config.family, row.entry);
  }
  std::vector<std::string> names;
  for (const auto& [family, entry] : one_of_family) {
    for (const NamedValue& parameter : entry->parameters) {
      if (std::find(names.begin(), names.end(), parameter.name) == names.end()) {
        names.push_back(parameter.name);
      }
    }
  }
  return names;
}

std::string parameter_text(const Entry& entry, const std::string& name) {
  const auto found = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                  [&](const NamedValue& value) { return value.name == name; });
  return found == entry.parameters.end() ? std::string() : found->text;
}

/// One column per parameter that is not a column already (dtype, d_head); empty where the entry's
/// family has no such one.
void append_parameters(const Fields& fields, const Rows& rows, TextTable& table) {
  for (const std::string& name : parameter_names(rows)) {
    if (has_field(fields, name)) {
      continue;
    }
    table.columns.push_back({name, false, {}});
    for (std::size_t row = 0; row < rows.size(); ++row) {
      table.rows[row].push_back(parameter_text(*rows[row].entry, name));
    }
  }
}

/// The first line of a report names the only family, and no row repeats it.
Fields fields_for_people(const Rows& rows) {
  Fields fields = entry_fields();
  if (std::all_of(rows.begin(), rows.end(), [](const EntryRow& row) {
        return row.entry->config.family == row.run->family;
      })) {
    std::erase_if(fields, [](const Field<EntryRow>& field) { return field.name == kFamilyField; });
  }
  return fields;
}

std::vector<const Entry*> entries_of(const Rows& rows) {
  std::vector<const Entry*> entries;
  for (const EntryRow& row : rows) {
    entries.push_back(row.entry);
  }
  return entries;
}

std::string device_line(const RunReport& report) {
  const DeviceLimits& device = report.device;
  const std::string space = report.space.empty() ? "" : ", space " + report.space;
  return fmt::format("{} ({}, {} SMs) | NVRTC {} | {}{}", device.name, arch_name(device.arch),
                     device.sm_count, report.toolchain.nvrtc_version, report.family, space);
}

std::string strategy_text(const MeasurePolicy& policy) {
  if (policy.strategy == Strategy::exhaustive) {
    return fmt::format("{} warm-ups, {} samples each", policy.warmup, policy.repeats);
  }
  const std::string budget =
      policy.budget_s > 0.0 ? fmt::format(", budget {} s", policy.budget_s) : std::string();
  return fmt::format("race to +-{:.3g} %{}", 100.0 * policy.target_ci, budget);
}

std::string policy_line(const RunReport& report) {
  const MeasurePolicy& policy = report.policy;
  return fmt::format("{}, L2 {}, gate {}{}, seed {}; ranked by the median", strategy_text(policy),
                     policy.flush_l2 ? "flushed" : "warm", policy.device_gate ? "on" : "off",
                     policy.cuda_graph ? ", CUDA graph" : "", policy.seed);
}

std::string time_line(const RunReport& report) {
  const std::string gpus =
      report.gpus == 1 ? "the GPU was" : fmt::format("{} GPUs were", report.gpus);
  return fmt::format("{:.1f} s; {} measuring or verifying {:.0f} % of it", report.wall_s, gpus,
                     busy_percent(report));
}

/// How the samples came about, and what the chip did meanwhile.
std::string measuring_text(const ProblemReport& problem) {
  std::string text;
  if (problem.measuring) {
    const MeasuringSummary& m = *problem.measuring;
    text += fmt::format("{} samples in {} + {} rounds, {:.1f} s: {}; {} retaken, drift {:+.1f} %",
                        m.samples_taken, m.rounds, m.final_rounds, m.elapsed_s, m.stopped_because,
                        m.samples_retaken, m.drift_percent);
  }
  if (problem.conditions) {
    const GpuConditions& c = *problem.conditions;
    text += fmt::format("; {:.0f} MHz ({:.0f} to {:.0f}), {:.0f} W, {:.0f} C", c.sm_mhz_median,
                        c.sm_mhz_min, c.sm_mhz_max, c.power_w_median, c.temperature_c_max);
    text +=
        c.throttle_reasons.empty() ? "" : fmt::format(", {}", fmt::join(c.throttle_reasons, ", "));
  }
  return text.empty() ? text : text + "\n";
}

std::string warnings_text(const ProblemReport& problem) {
  std::string text;
  if (problem.measuring) {
    for (const std::string& warning : problem.measuring->warnings) {
      text += "warning: " + warning + "\n";
    }
  }
  return text;
}

/// How a table is drawn, and what stands around it: a terminal's way, or Markdown's.
struct Style {
  bool markdown = false;
  bool colour = false;
  std::size_t columns = 0;  ///< Page::columns

  [[nodiscard]] std::string heading(const std::string& text) const {
    return markdown ? "## " + text + "\n\n" : coloured(text, Colour::bold, colour) + "\n";
  }
  /// A line below a table.
  [[nodiscard]] std::string paragraph(const std::string& line) const {
    return markdown && !line.empty() ? "\n" + line : line;
  }
  [[nodiscard]] std::string warning(const std::string& text) const {
    return (markdown ? "**" + text + "**\n" : coloured(text, Colour::yellow, colour) + "\n");
  }
  [[nodiscard]] std::string draw(const TextTable& table) const {
    return markdown ? draw_markdown(table) : draw_plain(table, columns);
  }
};

std::string ranking_text(const RunReport& run, const ProblemReport& problem,
                         const PrintOptions& options, const Style& style) {
  if (problem.ranking.empty()) {
    return style.warning("no configuration has a time");
  }
  const std::size_t most = options.format == OutputFormat::markdown || options.top == 0
                               ? problem.ranking.size()
                               : options.top;
  const Rows rows = rows_of(run, problem, problem.ranking, most);
  std::string text = style.draw(table_for_people(fields_for_people(rows), rows, Shown::in_ranking));
  if (rows.size() < problem.ranking.size()) {
    text +=
        fmt::format("... and {} more (--top 0 shows all)\n", problem.ranking.size() - rows.size());
  }
  return text + style.paragraph(roofline_text(run, problem));
}

std::string counters_text(const ProblemReport& problem, const Style& style) {
  const TextTable table = counter_table(problem.ranking);
  return table.rows.empty() ? std::string()
                            : std::string("\nhardware counters:\n") + (style.markdown ? "\n" : "") +
                                  style.draw(table);
}

/// Those that rules have dropped are only counted.
std::string failures_text(const RunReport& run, const ProblemReport& problem, const Style& style) {
  if (count_failed(problem) == 0) {
    return {};
  }
  Rows rows = rows_of(run, problem, problem.failures, problem.failures.size());
  std::erase_if(
      rows, [](const EntryRow& row) { return std::holds_alternative<Pruned>(row.entry->outcome); });
  return "\n" + style.warning(fmt::format("{} not in the ranking:", rows.size())) +
         (style.markdown ? "\n" : "") +
         style.draw(table_for_people(fields_for_people(rows), rows, Shown::in_failures));
}

std::string rule_text(const RuleAudit& rule) {
  if (rule.audited == 0) {
    return fmt::format(
        "rule {}: none of its {} was tried; --audit all tries those that the family can build\n",
        rule.rule, rule.pruned);
  }
  const std::string cost =
      rule.best_config.empty() ? std::string("none of them has a time")
      : rule.gain_percent > 0.0
          ? fmt::format("COST {:.1f} %: {} is faster than the winner", rule.gain_percent,
                        rule.best_config)
          : fmt::format("cost nothing: the best of them is {:.1f} % behind", -rule.gain_percent);
  return fmt::format(
      "rule {}: {} of {} tried; saved {:.1f} s of compiling and {:.1f} s of samples; {}\n",
      rule.rule, rule.audited, rule.pruned, rule.saved_compile_s, rule.saved_measure_s, cost);
}

std::string audit_text(const RunReport& run, const ProblemReport& problem, const Style& style) {
  if (problem.audited.empty()) {
    return {};
  }
  std::string text = "\n" + style.warning(fmt::format("{} pruned ones tried for the audit:",
                                                      problem.audited.size()));
  for (const RuleAudit& rule : problem.audit) {
    text += rule_text(rule);
  }
  const Rows rows = rows_of(run, problem, problem.audited, problem.audited.size());
  return text + (style.markdown ? "\n" : "") +
         style.draw(table_for_people(fields_for_people(rows), rows, Shown::in_ranking));
}

std::string run_text(const ProblemReport& problem) {
  return problem.run == 1 ? std::string() : fmt::format(", run {}", problem.run);
}

std::string reused_text(const ProblemReport& problem) {
  std::ptrdiff_t count = 0;
  for (const auto* entries : {&problem.ranking, &problem.failures}) {
    count += std::count_if(entries->begin(), entries->end(),
                           [](const Entry& entry) { return entry.reused; });
  }
  return count == 0 ? std::string() : fmt::format("; {} reused", count);
}

/// The verification of an estimate's ranking by emulation.
std::string verified_text(const RunReport& run, const ProblemReport& problem, const Style& style) {
  if (run.measured || problem.ranking.empty()) {
    return {};
  }
  const Entry* verified = nullptr;
  const Entry* not_covered = nullptr;
  std::size_t count = 0;
  for (const Entry& entry : problem.ranking) {
    const bool right = !verified_by(entry.outcome).empty();
    count += right ? 1 : 0;
    (right ? verified : not_covered) = &entry;
  }
  if (verified == nullptr &&
      std::get<Estimated>(not_covered->outcome).not_verified_because.empty()) {
    return style.warning("NOT VERIFIED: nothing was run, not on the CPU either");
  }
  std::string text;
  if (verified != nullptr) {
    const bool counted = std::get<Estimated>(verified->outcome).counted;
    text += fmt::format(
        "{} of {} verified: {}\nestimated from {}\n", count, problem.ranking.size(),
        verification_of(verified->outcome)->method,
        counted ? "the instructions that emulation counted" : "the family's quantities");
  }
  if (not_covered != nullptr) {
    text += style.warning(fmt::format(
        "{} NOT VERIFIED, among them {}: {}", problem.ranking.size() - count,
        not_covered->short_form, std::get<Estimated>(not_covered->outcome).not_verified_because));
  }
  return text;
}

std::string problem_text(const RunReport& run, const ProblemReport& problem,
                         const PrintOptions& options, const Style& style) {
  return "\n" +
         style.heading(fmt::format("{}{}: {} ranked, {} failed, {} pruned, {} invalid{}",
                                   describe(problem.problem), run_text(problem),
                                   problem.ranking.size(), count_failed(problem), problem.pruned,
                                   problem.invalid, reused_text(problem))) +
         measuring_text(problem) + verified_text(run, problem, style) + warnings_text(problem) +
         pruned_text(problem) + (style.markdown ? "\n" : "") +
         ranking_text(run, problem, options, style) + counters_text(problem, style) +
         failures_text(run, problem, style) + audit_text(run, problem, style);
}

/// The summary of several problems.
std::string summary_text(const RunReport& report, const Style& style) {
  if (!report.summary) {
    return {};
  }
  std::string text =
      "\n" + style.heading(fmt::format("summary of {} problems{}", report.summary->winners.size(),
                                       report.measured ? "" : ": estimates"));
  text += style.draw(summary_table(*report.summary));
  for (const std::string& sentence : choice_sentences(*report.summary)) {
    text += "\n" + sentence + "\n";
  }
  return text;
}

std::string print_for_people(const RunReport& report, const PrintOptions& options) {
  const Style style{options.format == OutputFormat::markdown, options.colour, options.columns};
  std::string text;
  if (!report.measured) {
    text += style.warning(kNotMeasured);
  }
  text += device_line(report) + "\n";
  if (report.measured) {
    text += "measured: true; " + policy_line(report) + "\n" + time_line(report) + "\n";
  } else {
    text += "measured: false\n";
  }
  for (const ProblemReport& problem : report.problems) {
    text += problem_text(report, problem, options, style);
  }
  text += summary_text(report, style);
  if (!report.complete) {
    text += "\n" + style.warning("INCOMPLETE: the run was stopped before it had done everything");
  }
  if (!report.measured) {
    text += "\n" + style.warning(kNotMeasuredEnd);
  }
  return text;
}

std::string print_csv(const Rows& rows) {
  const Fields fields = csv_fields();
  TextTable table = table_for_programs(fields, rows);
  if (!rows.empty()) {
    append_parameters(fields, rows, table);
    append_counters(entries_of(rows), table);
  }
  return draw_csv(table);
}

}  // namespace

std::string results_csv(const RunReport& report) {
  Rows rows;
  append_rows(report, rows);
  return print_csv(rows);
}

std::string print_run_report(const RunReport& report, const PrintOptions& options) {
  switch (options.format) {
    case OutputFormat::json:
      return results_json(report);
    case OutputFormat::csv:
      return results_csv(report);
    case OutputFormat::table:
    case OutputFormat::markdown:
      break;
  }
  return print_for_people(report, options);
}

std::string print_run_reports(const std::vector<RunReport>& reports, OutputFormat format) {
  if (format == OutputFormat::json) {
    return runs_json(reports);
  }
  Rows rows;
  for (const RunReport& report : reports) {
    append_rows(report, rows);
  }
  return print_csv(rows);
}

}  // namespace fatune
