#include "print/comparisons.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text_parts.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

constexpr int kPercentDecimals = 1;

std::string_view winner_change_name(WinnerChange change) {
  constexpr std::array<std::string_view, 4> kNames{"same", "tied", "changed", "unknown"};
  return kNames.at(static_cast<std::size_t>(change));
}

std::optional<double> more_percent_than(const std::optional<double>& before,
                                        const std::optional<double>& after) {
  return before && after ? std::optional(100.0 * (*after / *before - 1.0)) : std::nullopt;
}

std::vector<RunRow> run_rows(const CompareReport& report) {
  return {{"OLD", &report.old_run}, {"NEW", &report.new_run}};
}

/// By how many percent the SM clock is higher in NEW, on the problem where it differs the most;
/// 0: not known.
double clock_change_percent(const CompareReport& report) {
  double greatest = 0.0;
  for (const ComparedProblem& problem : report.comparison.problems) {
    if (problem.old_sm_mhz.value_or(0.0) > 0.0 && problem.new_sm_mhz) {
      const double change = 100.0 * (*problem.new_sm_mhz / *problem.old_sm_mhz - 1.0);
      greatest = std::abs(change) > std::abs(greatest) ? change : greatest;
    }
  }
  return greatest;
}

std::string refusal_text(Doubt refusal) {
  return fmt::format("NOT JUDGED: {}; no verdict rests on the times", enum_name(refusal));
}

/// "NEW lacks 69 of OLD's 72 problems"; empty if it lacks none.
std::string missing_text(const RunComparison& comparison) {
  const std::size_t missing = comparison.missing.size();
  return missing == 0 ? std::string()
                      : fmt::format("NEW lacks {} of OLD's {} problems", missing,
                                    missing + comparison.problems.size());
}

Blocks warnings_of(const CompareReport& report) {
  Blocks blocks;
  if (const std::string missing = missing_text(report.comparison); !missing.empty()) {
    append(blocks, {block::Warning{missing}, block::ParagraphEnd{}});
  }
  if (const Doubt refusal = report.comparison.refusal; refusal != Doubt::none) {
    append(blocks, {block::Warning{refusal_text(refusal)}, block::ParagraphEnd{}});
  }
  if (const auto names = differences(report.old_run.report, report.new_run.report);
      !names.empty()) {
    append(blocks,
           {block::Warning{"the runs differ in: " + joined(names, ", ")}, block::ParagraphEnd{}});
  }
  constexpr double kWorthSaying = 1.0;
  if (const double clock = clock_change_percent(report); std::abs(clock) >= kWorthSaying) {
    append(blocks,
           {block::Warning{fmt::format("the SM clock differs: by {:+.1f} % at the most", clock)},
            block::ParagraphEnd{}});
  }
  return blocks;
}

/// The drift of the run as a whole, in words.
Blocks drift_of(const CompareReport& report) {
  const Movement& movement = report.comparison.movement;
  if (movement.changes == 0) {
    return {block::Text{"no configuration has a time in both runs\n"}, block::ParagraphEnd{}};
  }
  const double drift = percent_of(movement.log_drift);
  std::string text = fmt::format("NEW as a whole is {:.1f} % {}, the median of {}", std::abs(drift),
                                 drift < 0.0 ? "faster" : "slower", movement.changes);
  if (report.comparison.refusal != Doubt::none) {
    return {block::Text{text + ".\n"}, block::ParagraphEnd{}};
  }
  text += ": heat, power, clocks, the driver, or all kernels.";
  if (std::abs(drift) <= report.comparison.tolerance_percent) {
    return {block::Text{text + " Verdicts leave each problem's drift out.\n"},
            block::ParagraphEnd{}};
  }
  return {block::Warning{text},
          block::Text{"Two separate runs cannot tell which: configurations that moved as all "
                      "others did are undecided. fatune sweep --against FILE measures old winners "
                      "in the same rounds.\n"},
          block::ParagraphEnd{}};
}

Block gate_of(const CompareReport& report) {
  const RunComparison& comparison = report.comparison;
  if (comparison.refusal != Doubt::none) {
    return block::Warning{refusal_text(comparison.refusal)};
  }
  const auto worse = std::ranges::partition_point(
      comparison.checks, [](const RivalCheck& check) { return is_worse(check); });
  if (is_worse(comparison.checks)) {
    return block::Warning{fmt::format("WORSE: {} (tolerance: {} %)",
                                      counts_text({comparison.checks.begin(), worse}),
                                      comparison.tolerance_percent)};
  }
  const std::string fine =
      fmt::format("nothing is slower by more than {} % beyond doubt, nothing failed",
                  comparison.tolerance_percent);
  if (const std::string missing = missing_text(comparison); !missing.empty()) {
    return block::Warning{fmt::format("INCOMPLETE: of what both have, {}; but {}", fine, missing)};
  }
  return block::Text{fine + "\n"};
}

std::string left_out_text(std::span<const RivalCheck> left_out) {
  return left_out.empty() ? std::string()
                          : fmt::format("... and {} more: {} (--rows 0 shows all)\n",
                                        left_out.size(), counts_text(left_out));
}

Blocks configs_of(const CompareReport& report) {
  const std::vector<RivalCheck>& all = report.comparison.checks;
  const std::size_t most = report.most_rows;
  const auto shown = std::span(all).first(most == 0 ? all.size() : std::min(most, all.size()));
  return {block::Text{"\n"}, block::Heading{fmt::format("configurations: {}", counts_text(all))},
          block::Rows{
              table_of(rival_check_fields(), std::vector<RivalCheck>(shown.begin(), shown.end()))},
          block::ParagraphEnd{}, block::Text{left_out_text(std::span(all).subspan(shown.size()))}};
}

Blocks problems_of(const CompareReport& report) {
  const RunComparison& comparison = report.comparison;
  const auto changed =
      std::ranges::count(comparison.problems, WinnerChange::changed, &ComparedProblem::winner);
  Blocks blocks{
      block::Text{"\n"},
      block::Heading{fmt::format("winners: {} of {} changed", changed, comparison.problems.size())},
      block::Rows{table_of(compared_problem_fields(), comparison.problems)}};
  for (const auto& [run, count] :
       {std::pair{"OLD", comparison.missing.size()}, std::pair{"NEW", comparison.added_problems}}) {
    if (count > 0) {
      append(blocks, {block::ParagraphEnd{},
                      block::Text{fmt::format("problems that only {} has: {}\n", run, count)}});
    }
  }
  return blocks;
}

Blocks blocks_of_comparison(const CompareReport& report) {
  Blocks blocks{block::Heading{"NEW against OLD"},
                block::Rows{table_of(compared_run_fields(), run_rows(report))},
                block::ParagraphEnd{}};
  for (Blocks part :
       {warnings_of(report), drift_of(report), problems_of(report), configs_of(report)}) {
    append(blocks, std::move(part));
  }
  append(blocks, {block::Text{"\n"}, gate_of(report)});
  return blocks;
}

Json json_comparison(const CompareReport& report) {
  const RunComparison& comparison = report.comparison;
  const std::vector<RunRow> runs = run_rows(report);
  Json json = json_head("compare");
  json["old"] = json_object(compared_run_fields(), runs[0]);
  json["new"] = json_object(compared_run_fields(), runs[1]);
  json["not_judged_because"] = json_or_null(enum_name(comparison.refusal));
  json["differences"] = differences(report.old_run.report, report.new_run.report);
  json["drift_percent"] = json_value(percent_of(comparison.movement.log_drift));
  json["drift_of"] = comparison.movement.changes;
  json["missing_problems"] = json_list(comparison.missing, [](const ComparedProblem& problem) {
    return describe_run(problem.problem, problem.run);
  });
  json["problems_of_one"] = comparison.missing.size() + comparison.added_problems;
  json["problems"] = json_rows(compared_problem_fields(), comparison.problems);
  json["tolerance_percent"] = json_value(comparison.tolerance_percent);
  json.update(verdict_summary_json(comparison.checks));
  json["checks"] = json_list(comparison.checks, record_json<RivalCheck>);
  return json;
}

}  // namespace

Fields<ComparedProblem> compared_problem_fields() {
  using P = ComparedProblem;
  return {
      {"problem", "problem", kWraps, [](const P& p) { return describe_run(p.problem, p.run); }},
      {"winner", "winner", [](const P& p) { return winner_change_name(p.winner); }},
      {"old_winner", "old winner", kWraps, or_none<&P::old_winner>},
      {"new_winner", "new winner", kWraps, or_none<&P::new_winner>},
      {"old_us", "old us", Look{.decimals = 1}, &P::old_us},
      {"new_us", "new us", Look{.decimals = 1}, &P::new_us},
      {"change_percent", "change %", Look{.decimals = kPercentDecimals},
       [](const P& p) { return more_percent_than(p.old_us, p.new_us); }},
      {"shared", "shared", &P::shared},
      {"drift_percent", "drift %", Look{.decimals = kPercentDecimals},
       [](const P& p) { return percent_of(p.movement.log_drift); }},
      {"spread_percent", "spread %", Look{.decimals = kPercentDecimals},
       [](const P& p) { return percent_of(p.movement.spread); }},
      {"is_usual_spread", "usual spread", kProgramsOnly,
       [](const P& p) { return p.movement.spread_is_usual; }},
      {"old_sm_mhz", "old MHz", &P::old_sm_mhz},
      {"new_sm_mhz", "new MHz", &P::new_sm_mhz},
      {"old_temperature_c", "old C", kProgramsOnly, &P::old_temperature_c},
      {"new_temperature_c", "new C", kProgramsOnly, &P::new_temperature_c},
  };
}

Fields<RunRow> compared_run_fields() {
  using R = RunRow;
  return {
      {"side", "", [](const R& r) { return std::string(r.side); }},
      {"name", "run", kWraps, [](const R& r) { return r.run->name; }},
      {"started_at", "started", [](const R& r) { return text_or_none(r.run->report.started_at); }},
      {"device", "device", [](const R& r) { return r.run->report.device.name; }},
      {"driver", "driver",
       [](const R& r) { return text_or_none(r.run->report.toolchain.driver_release); }},
      {"driver_cuda", "CUDA",
       [](const R& r) { return text_or_none(r.run->report.toolchain.driver_version); }},
      {"nvrtc", "NVRTC",
       [](const R& r) { return text_or_none(r.run->report.toolchain.nvrtc_version); }},
      {"fatune", "fatune",
       [](const R& r) { return text_or_none(r.run->report.toolchain.fatune_version); }},
      {"command_line", "command", kProgramsOnly,
       [](const R& r) { return r.run->report.command_line; }},
      {"is_part", "part", kProgramsOnly, [](const R& r) { return r.run->is_part; }},
  };
}

Document compare_document(const CompareReport& report) {
  return {[&report] { return blocks_of_comparison(report); },
          [&report] { return table_of(rival_check_fields(), report.comparison.checks); },
          [&report] { return json_comparison(report); }};
}

std::string compare_junit(const CompareReport& report) {
  const RunComparison& comparison = report.comparison;
  std::vector<RivalCheck> checks = comparison.checks;
  for (const ComparedProblem& problem : comparison.missing) {
    RivalCheck& missing = checks.emplace_back();
    missing.problem = problem.problem;
    missing.run = problem.run;
    missing.family = "fatune";
    missing.config = "problem";
    missing.verdict = Verdict::gone;
    missing.why = "NEW lacks the problem";
  }
  return verdicts_junit(
      "fatune compare",
      {{"old", report.old_run.name},
       {"new", report.new_run.name},
       {"device", report.new_run.report.device.name},
       {"drift_percent", fmt::format("{:.2f}", percent_of(comparison.movement.log_drift))},
       {"tolerance_percent", fmt::format("{}", comparison.tolerance_percent)}},
      checks);
}

}  // namespace fatune
