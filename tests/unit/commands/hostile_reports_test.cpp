// Reports whose texts all try to act on a terminal, in Markdown or in a page. None may.
#include <algorithm>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "base/text_parts.hpp"
#include "commands/check/check_report.hpp"
#include "commands/compile/compile.hpp"
#include "commands/debug/debug_report.hpp"
#include "commands/emulate/emulate_report.hpp"
#include "commands/list/list.hpp"
#include "commands/profile/profile.hpp"
#include "commands/row_reports.hpp"
#include "print/document/document.hpp"
#include "print/export_report.hpp"
#include "print/figures/plots.hpp"
#include "print/run_report.hpp"
#include "unit/commands/every_text.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kHostile =
    "a\x1b[31m\r\b\x7f\u202e\u009b<img src=x onerror=alert(1)>|pipe|`code`&#x202e;]]>\n"
    "# forged\n```\n<img>\n";

/// Replaces the texts of a report; `all`: the empty ones too.
template <typename Report>
Report hostile(Report report, bool all) {
  const auto replace = [&](std::string& text) {
    text = all || !text.empty() ? std::string(kHostile) : text;
  };
  EveryText{replace}(report);
  return report;
}

/// Whether a character neither moves the cursor nor changes the direction of writing.
void expect_only_forms(const std::string& text) {
  const auto acts = [](char c) {
    return c != '\n' && (static_cast<unsigned char>(c) < 0x20U || c == '\x7f');
  };
  EXPECT_TRUE(std::ranges::none_of(text, acts)) << text;
  for (const char* const bad : {"\u202e", "\u009b"}) {
    EXPECT_THAT(text, Not(HasSubstr(bad)));
  }
}

/// The lines outside of blocks of code.
std::string without_code(std::string_view markdown) {
  std::string kept;
  std::string fence;
  while (!markdown.empty()) {
    const std::string line(take_until(markdown, '\n'));
    const bool is_fence = line.starts_with("```");
    if (fence.empty() && is_fence) {
      fence = line;
    } else if (!fence.empty()) {
      fence = line == fence ? "" : fence;
    } else {
      kept += line + "\n";
    }
  }
  EXPECT_EQ(fence, "");
  return kept;
}

void expect_harmless_on_a_terminal(const Document& document) {
  const std::string text = render(document, OutputFormat::table);
  expect_only_forms(text);
  EXPECT_THAT(text, Not(HasSubstr("\n# forged")));
  expect_only_forms(render(document, {OutputFormat::table, 80}));
}

void expect_harmless_in_markdown(const Document& document) {
  const std::string text = render(document, OutputFormat::markdown);
  expect_only_forms(text);
  const std::string shown = without_code(text);
  for (const char* const bad : {"<img", "\n# forged", ">|pipe", "|`code", "`&#x202e;"}) {
    EXPECT_THAT(shown, Not(HasSubstr(bad)));
  }
}

void expect_harmless_as_data(const Document& document) {
  std::string csv = render(document, OutputFormat::csv);
  std::erase(csv, '\r');  // line ends
  expect_only_forms(csv);
  const std::string object = render(document, OutputFormat::json);
  expect_only_forms(object);
  EXPECT_THAT(Json::parse(object).dump(), HasSubstr("\u202e")) << "the text itself is kept";
}

/// `document_of` makes the document of a report.
template <typename Report, typename DocumentOf>
void expect_harmless(const Report& sample, DocumentOf document_of) {
  for (const bool all : {false, true}) {
    const Report report = hostile(sample, all);
    const Document document = document_of(report);
    expect_harmless_on_a_terminal(document);
    expect_harmless_in_markdown(document);
    expect_harmless_as_data(document);
  }
}

RunReport run_with_everything(bool measured) {
  RunReport run = measured ? sample_race() : sample_report(false);
  run.disturbances = {"a"};
  run.estimate_orders = {{"toy", "a"}};
  run.imported_from = measured ? "" : "a";
  run.problems.push_back(run.problems.front());
  run.problems.front().untried = 1;
  run.problems.front().untried_because = "a";
  run.choices = {{DType::fp16, 128, 2, "(A): x", "toy", 0.5, 1.0, run.problems[0].problem}};
  RivalCheck check;
  check.family = check.config = check.rival = check.why = "a";
  run.gate = GateReport{"a", "b", 1.0, {"c"}, {check}};
  run.shard = Shard{{1}, 2, "a", "b", 2, {}};
  return run;
}

TEST(HostileReports, OfRuns) {
  for (const bool measured : {false, true}) {
    expect_harmless(run_with_everything(measured),
                    [](const RunReport& run) { return run_document(run); });
    expect_harmless(run_with_everything(measured), &gate_document);
  }
}

TEST(HostileReports, OfRunsAsAPage) {
  for (const bool measured : {false, true}) {
    StudyReport study;
    study.runs = {hostile(run_with_everything(measured), true)};
    study.names = {std::string(kHostile)};
    study.command = kHostile;
    const std::string page = render_html(study_blocks(study), study_head(study), {});
    expect_only_forms(page);
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    const std::string text = without_code(render_markdown(study_blocks(study)));
    EXPECT_THAT(text, Not(HasSubstr("<img")));
    EXPECT_THAT(text, Not(HasSubstr("\n# forged")));
  }
}

TEST(HostileReports, OfPlans) {
  PlanReport plan = sample_plan();
  plan.unknown_values = {"a"};
  plan.rules.push_back({"a", "b", 1, true});
  expect_harmless(plan, [](const PlanReport& report) { return plan_document(report, true); });
}

TEST(HostileReports, OfCompilations) { expect_harmless(sample_compilation(), &compile_document); }

TEST(HostileReports, OfCases) {
  const RunReport run = sample_report(true);
  CasesReport report;
  report.name = report.summary = report.family = report.space = "a";
  report.device = run.device;
  CaseResult best{"ws", run.problems[0].problem, 3, run.problems[0].ranking[0], {}, {}, 1.0, 1.0};
  best.shown = {{"BLOCK_M", "128"}};
  report.results = {best, {"ws_pp", best.problem, 2, {}, "it is too old", {}, {}, {}}};
  expect_harmless(report, &cases_document);
}

TEST(HostileReports, OfEmulations) {
  EmulatedConfig flagged;
  flagged.config = "one";
  flagged.outcome = OutcomeKind::flagged;
  flagged.detail = "a";
  EmulatedFinding& finding = flagged.findings.emplace_back();
  finding.check = finding.kind = finding.text = finding.ptx = "a";
  finding.ptx_line = 7;
  finding.source = {{"a.cu", 3}};
  finding.other = EmulatedAccess{"write", 5, "cp.async", {{"a.cu", 2}}, 0, 1};
  flagged.groups = {{1, 2, {"race"}, {"sK"}, UnorderedLines{{"a.cu", 2}, {"a.cu", 3}}, {}},
                    {2, 1, {"race"}, {"sK"}, {}, {{"a.cu", 2}}}};
  flagged.profile = EmulatedProfile{{.thread_instructions = 1},
                                    {{"ld.shared", 7, {}}},
                                    {{"a.cu:3", 7, {}}},
                                    {{{"a.cu", 3}, "a line", {.thread_instructions = 1}, {}}}};
  EmulateReport report;
  report.toolchain = "a";
  report.schedules = report.inputs = report.checks = {"a"};
  report.configs = {flagged};
  expect_harmless(report, &emulate_document);
  report.configs = {flagged, flagged};  // at the same places
  expect_harmless(report, &emulate_document);
}

TEST(HostileReports, OfChecks) {
  CheckedInput checked;
  checked.config = checked.detail = checked.tool = "a";
  checked.findings.push_back({"race", "b", "c", "d", {"e"}, "shared", 0, "", "", "", 16});
  const auto document = [](const CheckedInput& one) {
    static std::vector<CheckedInput> rows;
    rows = {one};
    return check_document(rows, {1, 1, true});
  };
  expect_harmless(checked, document);
}

TEST(HostileReports, OfDebugging) {
  DebugReport report;
  report.config = report.init = report.device = report.first_finding = "a";
  report.head = {64, 128, DType::fp16, false, {64, 32, StepOrder::last_to_first, 8.0}};
  report.also_right = {"a"};
  report.checks.push_back(
      {0, std::nullopt, std::nullopt, StepTensor::output, 0.5, 0.1, 1.0, 64, 0, std::nullopt});
  for (const bool emulated : {false, true}) {
    report.emulated = emulated;
    report.failure.reset();
    expect_harmless(report, &debug_document);
    report.failure = DebugFailure{OutcomeKind::crashed, "a"};
    expect_harmless(report, &debug_document);
  }
}

TEST(HostileReports, OfProfiles) {
  ProfileReport report;
  report.device = report.family = report.read_by = report.source = "a";
  report.rows.resize(1);
  report.rows[0].config = report.rows[0].detail = "a";
  expect_harmless(report, &profile_document);
}

TEST(HostileReports, OfDevices) {
  DeviceReport report;
  report.driver = report.remedy = "a";
  report.devices.push_back({0, sample_report(true).device, "a"});
  expect_harmless(report, &device_document);
}

TEST(HostileReports, OfHistories) {
  RunSummary run;
  run.device = run.command_line = run.started_at = "a";
  run.best = RunBest{{16, 512, 16, 128, DType::fp16, false}, "(A): x", 100.0};
  const auto document = [](const RunSummary& one) {
    static std::vector<RunSummary> runs;
    runs = {one};
    return history_document(runs);
  };
  expect_harmless(run, document);
}

TEST(HostileReports, OfExportsAndPredictions) {
  const DeviceLimits device = hostile(sample_report(true).device, true);
  ExportReport exported;
  exported.fatune_version = kHostile;
  exported.table.origins.resize(1);
  exported.table.origins[0].name = kHostile;
  exported.table.gpus.emplace(model_of(device), device);
  exported.table.skipped.resize(1);
  expect_harmless_on_a_terminal(export_document(exported));
  expect_harmless_in_markdown(export_document(exported));
  expect_harmless_as_data(export_document(exported));
  PredictReport report{exported, device, std::string(kHostile), {}};
  expect_harmless_on_a_terminal(predict_document(report));
  expect_harmless_in_markdown(predict_document(report));
}

}  // namespace
}  // namespace fatune
