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
