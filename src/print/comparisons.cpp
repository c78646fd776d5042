#include "print/comparisons.hpp"

#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

std::ptrdiff_t count_of(std::span<const RivalCheck> checks, std::size_t number) {
  return std::ranges::count(checks, static_cast<Verdict>(number), &RivalCheck::verdict);
}

template <double SlowerBy::*kMember>
const auto slower_by = [](const RivalCheck& check) { return if_any(check.slower_by, kMember); };

using Node = pugi::xml_node;

/// Sets an attribute. pugixml escapes markup; characters that XML cannot represent are replaced.
void set(Node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(visible_text(value).c_str());
}

struct CaseCounts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
};

void set_counts(Node node, const CaseCounts& counts) {
  set(node, "tests", std::to_string(counts.tests));
  set(node, "failures", std::to_string(counts.failures));
  set(node, "errors", "0");
}

bool is_skipped(const RivalCheck& check) {
  return check.verdict == Verdict::undecided || check.verdict == Verdict::gone ||
         check.verdict == Verdict::failing;
}

std::string message_of(const RivalCheck& check) {
  std::string text{enum_name(check.verdict)};
  if (!check.rival.empty()) {
    text += " against " + check.rival;
  }
  if (check.time_us && check.rival_us) {
    text += fmt::format("; {:.1f} us against {:.1f} us", *check.time_us, *check.rival_us);
  }
  if (check.slower_by) {
    text += fmt::format(", {:+.2f} % ({:+.2f} to {:+.2f})", check.slower_by->percent,
                        check.slower_by->least, check.slower_by->greatest);
  }
  for (const std::string_view more : {enum_name(check.doubt), std::string_view(check.why)}) {
    text.append(more.empty() ? "" : "; ").append(more);
  }
  return text;
}

void add_case(Node suite, const RivalCheck& check, CaseCounts& counts) {
  Node test = suite.append_child("testcase");
  set(test, "classname", check.family);
  set(test, "name", check.config.empty() ? "winner" : check.config);
  if (check.time_us) {
    constexpr double kUsPerSecond = 1e6;
    set(test, "time", fmt::format("{:.9f}", *check.time_us / kUsPerSecond));
  }
  ++counts.tests;
  counts.failures += is_worse(check) ? 1U : 0U;
  counts.skipped += is_skipped(check) ? 1U : 0U;
  if (!is_worse(check) && !is_skipped(check)) {
    test.append_child("system-out").text().set(visible_text(message_of(check)).c_str());
    return;
  }
  Node why = test.append_child(is_worse(check) ? "failure" : "skipped");
  set(why, "type", std::string(enum_name(check.verdict)));
  set(why, "message", message_of(check));
}

/// Names and values of what holds for all checks, as the devices and the tolerance.
using JunitProperties = std::vector<std::pair<std::string, std::string>>;

void add_suite(Node suites, const std::string& problem, const JunitProperties& properties,
               const std::vector<const RivalCheck*>& checks, CaseCounts& all) {
  Node suite = suites.append_child("testsuite");
  set(suite, "name", problem);
  Node list = suite.append_child("properties");
  for (const auto& [name, value] : properties) {
    Node property = list.append_child("property");
    set(property, "name", name);
    set(property, "value", value);
  }
  CaseCounts counts;
  for (const RivalCheck* const check : checks) {
    add_case(suite, *check, counts);
  }
  set_counts(suite, counts);
  set(suite, "skipped", std::to_string(counts.skipped));
  all.tests += counts.tests;
  all.failures += counts.failures;
}

/// JUnit XML of the checks. `name`: the command.
std::string verdicts_junit(const std::string& name, const JunitProperties& properties,
                           const std::vector<RivalCheck>& checks) {
  std::map<std::string, std::vector<const RivalCheck*>> problems;
  for (const RivalCheck& check : checks) {
    problems[describe_run(check.problem, check.run)].push_back(&check);
  }
  pugi::xml_document document;
  Node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  Node suites = document.append_child("testsuites");
  set(suites, "name", name);
  CaseCounts all;
  for (const auto& [problem, of_problem] : problems) {
    add_suite(suites, problem, properties, of_problem, all);
  }
  set_counts(suites, all);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

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

/// What the workload's calls take with the winners of either run.
struct CallsOfBoth {
  double calls = 0.0;
  double old_us = 0.0;
  double new_us = 0.0;
};

std::optional<CallsOfBoth> calls_of_both(const RunComparison& comparison) {
  CallsOfBoth sum;
  for (const ComparedProblem& problem : comparison.problems) {
    if (problem.calls && problem.old_us && problem.new_us) {
      sum.calls += *problem.calls;
      sum.old_us += *problem.calls * *problem.old_us;
      sum.new_us += *problem.calls * *problem.new_us;
    }
  }
  return sum.calls > 0.0 ? std::optional(sum) : std::nullopt;
}

Blocks workload_of(const RunComparison& comparison) {
  const auto calls = calls_of_both(comparison);
  return calls ? Blocks{block::ParagraphEnd{},
                        block::Text{fmt::format(
                            "{:.0f} calls of the workload: {:.2f} ms with OLD's winners, {:.2f} ms "
                            "with NEW's, {:+.2f} %\n",
                            calls->calls, calls->old_us / kUsPerMs, calls->new_us / kUsPerMs,
                            100.0 * (calls->new_us / calls->old_us - 1.0))}}
               : Blocks{};
}

Blocks problems_of(const CompareReport& report) {
  const RunComparison& comparison = report.comparison;
  const auto changed =
      std::ranges::count(comparison.problems, WinnerChange::changed, &ComparedProblem::winner);
  Blocks blocks{
      block::Text{"\n"},
      block::Heading{fmt::format("winners: {} of {} changed", changed, comparison.problems.size())},
      block::Rows{table_of(compared_problem_fields(), comparison.problems)}};
  append(blocks, workload_of(comparison));
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
  return joined_blocks(
      {{block::Heading{"NEW against OLD"},
        block::Rows{table_of(compared_run_fields(), run_rows(report))}, block::ParagraphEnd{}},
       warnings_of(report),
       drift_of(report),
       problems_of(report),
       configs_of(report),
       {block::Text{"\n"}, gate_of(report)}});
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
      {"problem", "problem", kWraps, [](auto& p) { return describe_run(p.problem, p.run); }},
      {"winner", "winner", [](auto& p) { return winner_change_name(p.winner); }},
      {"old_winner", "old winner", kWraps, or_none<&P::old_winner>},
      {"new_winner", "new winner", kWraps, or_none<&P::new_winner>},
      {"old_us", "old us", decimals(1), &P::old_us},
      {"new_us", "new us", decimals(1), &P::new_us},
      {"change_percent", "change %", decimals(kPercentDecimals),
       [](auto& p) { return more_percent_than(p.old_us, p.new_us); }},
      {"calls", "calls", kProgramsOnly, &P::calls},
      {"shared", "shared", &P::shared},
      {"drift_percent", "drift %", decimals(kPercentDecimals),
       [](auto& p) { return percent_of(p.movement.log_drift); }},
      {"spread_percent", "spread %", decimals(kPercentDecimals),
       [](auto& p) { return percent_of(p.movement.spread); }},
      {"is_usual_spread", "usual spread", kProgramsOnly,
       [](auto& p) { return p.movement.spread_is_usual; }},
      {"old_sm_mhz", "old MHz", &P::old_sm_mhz},
      {"new_sm_mhz", "new MHz", &P::new_sm_mhz},
      {"old_temperature_c", "old C", kProgramsOnly, &P::old_temperature_c},
      {"new_temperature_c", "new C", kProgramsOnly, &P::new_temperature_c},
  };
}

Fields<RunRow> compared_run_fields() {
  return {
      {"side", "", [](auto& r) { return std::string(r.side); }},
      {"name", "run", kWraps, [](auto& r) { return r.run->name; }},
      {"started_at", "started", [](auto& r) { return text_or_none(r.run->report.started_at); }},
      {"device", "device", [](auto& r) { return r.run->report.device.name; }},
      {"driver", "driver",
       [](auto& r) { return text_or_none(r.run->report.toolchain.driver_release); }},
      {"driver_cuda", "CUDA",
       [](auto& r) { return text_or_none(r.run->report.toolchain.driver_version); }},
      {"nvrtc", "NVRTC",
       [](auto& r) { return text_or_none(r.run->report.toolchain.nvrtc_version); }},
      {"fatune", "fatune",
       [](auto& r) { return text_or_none(r.run->report.toolchain.fatune_version); }},
      {"command_line", "command", kProgramsOnly,
       [](auto& r) { return r.run->report.command_line; }},
      {"is_part", "part", kProgramsOnly, [](auto& r) { return r.run->is_part; }},
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

std::string counts_text(std::span<const RivalCheck> checks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (const std::ptrdiff_t count = count_of(checks, i); count > 0) {
      parts.push_back(fmt::format("{} {}", count, enum_name(static_cast<Verdict>(i))));
    }
  }
  return parts.empty() ? "nothing to compare" : joined(parts, ", ");
}

std::string describe_run(const Problem& problem, int run) {
  return describe(problem) + (run == 1 ? std::string() : fmt::format(", run {}", run));
}

Fields<RivalCheck> rival_check_fields() {
  using C = RivalCheck;
  return {
      {"verdict", "verdict", [](auto& c) { return enum_name(c.verdict); }},
      {"problem", "problem", kWraps, [](auto& c) { return describe_run(c.problem, c.run); }},
      {"run", "run", kProgramsOnly, &C::run},
      {"config", "config", kWraps, or_none<&C::config>},
      {"family", "family", kProgramsOnly, or_none<&C::family>},
      {"rival", "against", kWraps, or_none<&C::rival>},
      {"rank", "rank", or_none<&C::rank>},
      {"rival_rank", "old rank", kProgramsOnly, or_none<&C::rival_rank>},
      {"time_us", "us", decimals(1), &C::time_us},
      {"rival_us", "against us", decimals(1), &C::rival_us},
      {"slower_percent", "slower %", decimals(2), slower_by<&SlowerBy::percent>},
      {"least_percent", "from", decimals(2), slower_by<&SlowerBy::least>},
      {"greatest_percent", "to", decimals(2), slower_by<&SlowerBy::greatest>},
      {"rounds", "rounds", kProgramsOnly, or_none<&C::rounds>},
      {"file_us", "file us", decimals(1, kForPrograms), &C::file_us},
      {"since_file_percent", "since file %", decimals(1), &C::since_file_percent},
      {"doubt", "doubt", kWraps, [](auto& c) { return text_or_none(enum_name(c.doubt)); }},
      {"why", "why", kWraps, or_none<&C::why>},
  };
}

Json verdict_summary_json(const std::vector<RivalCheck>& checks) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    counts[std::string(enum_name(static_cast<Verdict>(i)))] = count_of(checks, i);
  }
  return {{"worse", is_worse(checks)}, {"counts", std::move(counts)}};
}

std::string gate_junit(const RunReport& report) {
  const GateReport& gate = *report.gate;
  return verdicts_junit("fatune",
                        {{"winners", gate.of.empty() ? "this run's" : gate.of},
                         {"against", gate.against},
                         {"device", report.device.name},
                         {"tolerance_percent", fmt::format("{}", gate.tolerance_percent)}},
                        gate.checks);
}

}  // namespace fatune
