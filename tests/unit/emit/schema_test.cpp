// Whatever is printed as JSON satisfies its schema, and the schemas say what the fields say.
#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "data/file_tree.hpp"
#include "data/json_file.hpp"
#include "emit/compile_report.hpp"
#include "emit/device_fields.hpp"
#include "emit/entry_fields.hpp"
#include "emit/history_report.hpp"
#include "emit/plan_report.hpp"
#include "emit/run_report.hpp"
#include "emit/sass_report.hpp"
#include "emit/sass_why_report.hpp"
#include "unit/emit/report_samples.hpp"

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

TEST(OutputSchemas, ResultsOfEveryOutcome) {
  expect_valid(results_json(sample_report(true)), "results");
  expect_valid(results_json(sample_report(false)), "results");
}

TEST(OutputSchemas, ResultsOfARaceWithItsConditionsAndAnAudit) {
  expect_valid(results_json(sample_race()), "results");
  expect_valid(best_configs_json(sample_race()), "best_configs");
}

TEST(OutputSchemas, BestConfigsWithAndWithoutAWinner) {
  expect_valid(best_configs_json(sample_report(true)), "best_configs");
  RunReport empty = sample_report(false);
  empty.problems[0].ranking.clear();
  expect_valid(best_configs_json(empty), "best_configs");
}

TEST(OutputSchemas, ListAndCompile) {
  expect_valid(print_plan_report(sample_plan(), OutputFormat::json, false), "list");
  expect_valid(print_compile_report(sample_compilation(), OutputFormat::json), "compile");
}

TEST(OutputSchemas, HistoryWithAndWithoutABest) {
  RunSummary best;
  best.id = 2;
  best.best = RunBest{{16, 512, 16, 128, DType::fp16, false}, "(A): x", 100.0};
  RunSummary none;
  none.id = 1;
  const std::string text = print_history({best, none}, OutputFormat::json);
  expect_valid(text, "history");
  EXPECT_NEAR(json::parse(text)["runs"][0]["best_tflops"].get<double>(), 343.6, 0.1);
}

TEST(OutputSchemas, TheTunedResultsThatAreShippedFollowThem) {
  const FileTree tree;
  const auto paths = tree.list("configs/tuned/");
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    EXPECT_NO_THROW((void)load_json(tree, path, "best_configs")) << path;
  }
}

TEST(OutputSchemas, AForeignMemberIsFound) {
  json results = json::parse(results_json(sample_report(true)));
  results["problems"][0]["ranking"][0]["surprise"] = 1;
  EXPECT_THROW(check_schema(results, FileTree(), "results", "test"), Error);
}

TEST(OutputSchemas, DescriptionsAreTheFieldsOwn) {
  const json definitions = schema("results")["definitions"];
  for (const auto& field : entry_fields()) {
    EXPECT_EQ(definitions["entry"]["properties"][std::string(field.name)]["description"],
              std::string(field.doc))
        << field.name;
  }
  const json run = schema("history")["properties"]["runs"]["items"]["properties"];
  for (const auto& field : history_fields()) {
    EXPECT_EQ(run[std::string(field.name)]["description"], std::string(field.doc)) << field.name;
  }
  for (const auto& field : device_fields()) {
    EXPECT_EQ(definitions["device"]["properties"][std::string(field.name)]["description"],
              std::string(field.doc))
        << field.name;
  }
}

template <typename Row>
void expect_descriptions(const json& properties, const std::vector<Field<Row>>& fields) {
  EXPECT_EQ(properties.size(), fields.size());
  for (const auto& field : fields) {
    EXPECT_EQ(properties[std::string(field.name)]["description"], std::string(field.doc))
        << field.name;
  }
}

TEST(OutputSchemas, ThoseOfMachineCodeSayWhatTheFieldsSay) {
  const auto rows = [](const json& list) { return list["items"]["properties"]; };
  const json sass = schema("sass")["properties"];
  expect_descriptions(rows(sass["classes"]), sass_fields());
  expect_descriptions(rows(sass["opcodes"]), sass_fields());
  const json diff = schema("sass_diff")["properties"];
  expect_descriptions(rows(diff["classes"]), sass_diff_fields());
  expect_descriptions(rows(diff["opcodes"]), sass_diff_fields());
  const json why = schema("sass_why")["properties"];
  expect_descriptions(rows(why["effects"]), effect_fields());
  expect_descriptions(rows(rows(why["problems"])["correlations"]), correlation_fields());
}

TEST(OutputSchemas, WhyWithARun) {
  SassWhyReport report;
  report.device = "Fake H200";
  report.run = 3;
  report.samples.push_back({"(A): x", {}});
  report.effects.push_back({"B_r", "64", "128", OpcodeClass::fp32, 2, 10.0, -3.0});
  report.problems.push_back({"b1", {{"all", 6, {0.5, -0.2, 0.9}}}});
  const std::string text = print_sass_why(report, OutputFormat::json, 0);
  expect_valid(text, "sass_why");
  EXPECT_EQ(json::parse(text)["problems"][0]["correlations"][0]["share_percent"], 25.0);
  const std::string table = print_sass_why(report, OutputFormat::table, 0);
  EXPECT_NE(table.find("What goes with the time: b1 on Fake H200, 95 % intervals"),
            std::string::npos);
}

TEST(OutputSchemas, BestConfigsDefinesNothingInItsOwnWay) {
  const json results = schema("results")["definitions"];
  const json best = schema("best_configs")["definitions"];
  EXPECT_TRUE(best.contains("entry"));
  for (const auto& definition : best.items()) {
    EXPECT_EQ(definition.value(), results[definition.key()]) << definition.key();
  }
}

}  // namespace
}  // namespace fatune
