// JSON output satisfies its schema, and the schemas agree with the fields.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "commands/compile/compile.hpp"
#include "commands/emulate/emulate_report.hpp"
#include "commands/list/list.hpp"
#include "commands/profile/profile.hpp"
#include "commands/row_reports.hpp"
#include "commands/sass/sass_reports.hpp"
#include "model/input_kind.hpp"
#include "print/document/document.hpp"
#include "print/run_report.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using nlohmann::json;

void expect_valid(const std::string& text, const char* schema) {
  const FileTree tree;
  EXPECT_NO_THROW(check_schema(parse_json(text, schema), tree, schema, schema)) << text;
}

json schema(const char* name) {
  return json::parse(FileTree().read(std::string("configs/schema/") + name + ".schema.json"));
}

TEST(OutputSchemas, DebugKnowsEveryKindOfInput) {
  json kinds = json::array();
  for (const InputKindText& text : kInputKindTexts) {
    kinds.push_back(text.name);
  }
  EXPECT_EQ(schema("debug")["properties"]["init"]["enum"], kinds);
}

TEST(OutputSchemas, ResultsOfEveryOutcome) {
  expect_valid(results_json(sample_report(true)), "results");
  expect_valid(results_json(sample_report(false)), "results");
}

TEST(OutputSchemas, ResultsOfARaceWithItsConditionsAndAnAudit) {
  expect_valid(results_json(sample_race()), "results");
  expect_valid(best_configs_json(sample_race()), "results");
}

TEST(OutputSchemas, ASummaryOfSeveralProblems) {
  RunReport report = sample_report(true);
  const Problem problem = report.problems[0].problem;
  report.problems.push_back(report.problems[0]);
  report.problems[1].ranking.clear();
  report.choices = {{DType::fp16, 128, 2, "(A): x", "toy", 0.5, 1.0, problem},
                    {DType::bf16, 64, 2, "", "", 0.0, 0.0, {}}};
  expect_valid(results_json(report), "results");
}

TEST(OutputSchemas, CasesWithAndWithoutABestConfiguration) {
  const RunReport run = sample_report(true);
  CasesReport report;
  report.name = "hopper";
  report.device = run.device;
  report.toolchain = run.toolchain;
  CaseResult best{"ws", run.problems[0].problem, 3, run.problems[0].ranking[0], {}, {}, 1.0, 1.0};
  best.shown = {{"BLOCK_M", "128"}, {"variant", "ws"}};
  report.results = {best, {"ws_pp", best.problem, 2, {}, "it is too old", {}, {}, {}}};
  expect_valid(render(cases_document(report), OutputFormat::json), "cases");
  EXPECT_THAT(render(cases_document(report), OutputFormat::csv),
              testing::HasSubstr(",detail,BLOCK_M,variant"));
  EXPECT_THAT(render(cases_document(report), OutputFormat::table),
              testing::HasSubstr("no configuration has a time: it is too old"));
}

TEST(OutputSchemas, BestConfigsWithAndWithoutAWinner) {
  expect_valid(best_configs_json(sample_report(true)), "results");
  RunReport empty = sample_report(false);
  empty.problems[0].ranking.clear();
  expect_valid(best_configs_json(empty), "results");
}

TEST(OutputSchemas, ListAndCompile) {
  expect_valid(render(plan_document(sample_plan(), false), OutputFormat::json), "list");
  expect_valid(render(compile_document(sample_compilation()), OutputFormat::json), "compile");
}

TEST(OutputSchemas, HistoryWithAndWithoutABest) {
  RunSummary best;
  best.id = 2;
  best.best = RunBest{{16, 512, 16, 128, DType::fp16, false}, "(A): x", 100.0};
  RunSummary none;
  none.id = 1;
  const std::string text = render(history_document({best, none}), OutputFormat::json);
  expect_valid(text, "history");
  EXPECT_NEAR(json::parse(text)["runs"][0]["best_tflops"].get<double>(), 343.6, 0.1);
}

TEST(OutputSchemas, ATimelineOfKernelsAndRanges) {
  TimelineRow row;
  row.item = {"kernel<(bool)1>", 3, 30.5, 10.2, 10.0, 9.5, 11.0};
  TimelineRow range = row;
  range.is_range = true;
  const std::string text = render(timeline_document({{row, range}, {}}), OutputFormat::json);
  expect_valid(text, "timeline");
}

TEST(OutputSchemas, AnEmulationWithAndWithoutFindings) {
  EmulatedConfig flagged;
  flagged.config = "one";
  flagged.outcome = OutcomeKind::flagged;
  flagged.stats = ErrorStats{};
  EmulatedFinding& finding = flagged.findings.emplace_back();
  finding.check = "race";
  finding.ptx_line = 7;
  finding.source = {{"a.cu", 3}};
  finding.memory = "sK [row 1, col 2]";
  finding.access = "read";
  finding.other = EmulatedAccess{"asynchronous write", 5, "cp.async", {{"a.cu", 2}}, 0, 1};
  finding.group = 1;
  flagged.groups = {{1, 1, {"race"}, {"sK"}, UnorderedLines{{"a.cu", 2}, {"a.cu", 3}}, {}}};
  flagged.profile = EmulatedProfile{{},
                                    {{"ld.shared", 7, {}}},
                                    {{"a.cu:3", 7, {}}},
                                    {{{"a.cu", 3}, "a line", {}, {}}, {{"b.cu", 1}, "", {}, {}}}};
  EmulateReport report;
  report.checks = all_emulation_checks();
  report.configs = {flagged, flagged};
  report.configs.back().outcome = OutcomeKind::not_covered;
  report.configs.back().stats.reset();
  report.configs.back().findings.clear();
  report.configs.back().profile.reset();
  expect_valid(render(emulate_document(report), OutputFormat::json), "emulate");
}

TEST(OutputSchemas, TheTunedResultsThatAreShippedFollowThem) {
  const FileTree tree;
  ASSERT_FALSE(tree.list("configs/tuned/").empty());
  for (const char* folder : {"configs/tuned/", "configs/tuned_prefill/", "configs/tuned_decode/"}) {
    for (const std::string& path : tree.list(folder)) {
      EXPECT_NO_THROW((void)load_json(tree, path, "results")) << path;
    }
  }
}

/// The problems and winners' configurations of a list of objects.
std::set<std::pair<std::string, std::string>> winners_in(const json& list,
                                                         const json::json_pointer& config) {
  std::set<std::pair<std::string, std::string>> winners;
  for (const json& one : list) {
    winners.emplace(one.at("problem").dump(), one.at(config).get<std::string>());
  }
  return winners;
}

TEST(OutputSchemas, ThePeersThatAreShippedWereTimedBesideTheShippedWinners) {
  const FileTree tree;
  const auto paths = tree.list("configs/peers/");
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    const JsonFile peers = load_json(tree, path, "compare_peers");
    const std::string name = file_name_part(peers.root().at("device").text()) + ".json";
    EXPECT_EQ(path, "configs/peers/" + name);
    const JsonFile tuned = load_json(tree, "configs/tuned/" + name, "results");
    EXPECT_EQ(
        winners_in(peers.root().raw().at("rows"), json::json_pointer("/best")),
        winners_in(tuned.root().raw().at("problems"), json::json_pointer("/ranking/0/config")))
        << path;
  }
}

TEST(OutputSchemas, AForeignMemberIsFound) {
  json results = json::parse(results_json(sample_report(true)));
  results["problems"][0]["ranking"][0]["surprise"] = 1;
  EXPECT_THROW(check_schema(results, FileTree(), "results", "test"), Error);
}

SassMapReport sample_map() {
  SassMapReport report;
  report.code.source = "(A): x";
  MapLineRow row{{{"a.cu", 2}, {4, 3, 1}, {5, 4, 1}, {}}, "x += 1;"};
  row.count.classes[static_cast<std::size_t>(OpcodeClass::fp32)] = {4, 3, 1};
  report.lines = {row};
  report.files["a.cu"] = {"float x;", "x += 1;"};
  report.files["unused.cuh"] = {"int y;"};
  return report;
}

TEST(OutputSchemas, MapWithAndWithoutASelection) {
  SassMapReport report = sample_map();
  expect_valid(render(sass_map_document(report, 0), OutputFormat::json), "sass_map");
  report.selection = MapSelection{
      "a.cu:2",
      report.lines,
      {{7, 0, "add.f32 %f1, %f1, 0f3F800000", {{"a.cu", 2}, {"b.cu", 9}}}},
      {{0x40, "FADD R1, R1, 1", OpcodeClass::fp32, LoopPlace::conditional, 7, {{"a.cu", 2}}}}};
  const std::string text = render(sass_map_document(report, 0), OutputFormat::json);
  expect_valid(text, "sass_map");
  EXPECT_EQ(json::parse(text)["selection"]["sass"][0]["main_loop"], "conditional");
  EXPECT_EQ(json::parse(text)["selection"]["ptx"][0]["source"], "a.cu:2 < b.cu:9");
  EXPECT_EQ(json::parse(text)["lines"][0]["fp32"], 3);
}

TEST(OutputSchemas, AnnotatedSourceHasTheFilesWithCode) {
  const std::string text = annotated_source(sample_map());
  EXPECT_NE(text.find("\n== a.cu\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    3     4     5 |    2  x += 1;\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("unused.cuh"), std::string::npos) << text;
}

TEST(OutputSchemas, WhyWithARun) {
  SassWhyReport report;
  report.device = "Fake H200";
  report.run = 3;
  report.samples.push_back({"(A): x", {}});
  report.effects.push_back({"toy", "B_r", "64", "128", OpcodeClass::fp32, 2, 10.0, -3.0});
  report.problems.push_back({"b1", {{"all", 6, {0.5, -0.2, 0.9}}}});
  const std::string text = render(sass_why_document(report, 0), OutputFormat::json);
  expect_valid(text, "sass_why");
  EXPECT_EQ(json::parse(text)["problems"][0]["correlations"][0]["share_percent"], 25.0);
  const std::string table = render(sass_why_document(report, 0), OutputFormat::table);
  EXPECT_NE(table.find("What correlates with the time: b1 on Fake H200, 95 % intervals"),
            std::string::npos);
}

}  // namespace
}  // namespace fatune
