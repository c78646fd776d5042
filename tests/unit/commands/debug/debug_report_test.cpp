#include "commands/debug/debug_report.hpp"

#include <gmock/gmock.h>

#include <limits>

#include <nlohmann/json.hpp>

#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "print/document/document.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A report on one block with two steps. If `wrong`, O is wrong in the second step.
DebugReport sample(bool wrong) {
  DebugReport report;
  report.family = "flash";
  report.config = "(A): x";
  report.head = {64, 128, DType::fp16, false, {64, 32, StepOrder::last_to_first, 8.0}};
  report.declares_steps = true;
  report.init = "normal";
  report.seed = 7;
  report.device = "Fake H200";
  for (std::int64_t step = 0; step < 2; ++step) {
    for (const StepTensor tensor : kStepTensors) {
      report.checks.push_back({0, step, 1 - step, tensor, 0.25, 0.1, 1.0, 64, 0, std::nullopt});
    }
  }
  report.checks.push_back(
      {0, std::nullopt, std::nullopt, StepTensor::output, 0.5, 0.1, 1.0, 64, 0, std::nullopt});
  if (wrong) {
    StepCheck& check = report.checks[9];
    check.max_error = 3.0;
    check.wrong = 5;
    check.first_wrong = WrongValue{12, 34, 4.0, 1.0, 1.5, 3.0};
    report.likely_cause = "the product P V";
  }
  return report;
}

json as_json(const DebugReport& report) {
  const std::string text = render(debug_document(report), OutputFormat::json);
  EXPECT_NO_THROW(check_schema(parse_json(text, "debug"), FileTree(), "debug", "debug")) << text;
  return json::parse(text);
}

TEST(DebugReport, ARightOneSaysSo) {
  const std::string text = render(debug_document(sample(false)), OutputFormat::table);
  EXPECT_THAT(text, HasSubstr("all right"));
  EXPECT_THAT(text, HasSubstr("25 %"));
  EXPECT_THAT(text, HasSubstr("output: 50 % of its limit"));
  EXPECT_THAT(text, Not(HasSubstr("WRONG")));
  EXPECT_EQ(as_json(sample(false))["verdict"], "right");
}

TEST(DebugReport, TheFirstWrongValueIsNamedWithAllThree) {
  const DebugReport report = sample(true);
  EXPECT_THAT(render(debug_document(report), OutputFormat::table),
              HasSubstr("FIRST WRONG: step 1 (keys 0 to 31), O of block 0: row 12, column 34: "
                        "kernel 4, float64 1, 16-bit 1.5; error 3, limit 1; 5 of 64 values there\n"
                        "  likely: the product P V"));
  const json parsed = as_json(report);
  EXPECT_EQ(parsed["verdict"], "wrong");
  EXPECT_EQ(parsed["first_wrong"]["tensor"], "O");
  EXPECT_EQ(parsed["first_wrong"]["row"], 12);
  EXPECT_EQ(parsed["checks"].size(), 11U);
}

TEST(DebugReport, WithoutACauseNoneIsGuessed) {
  DebugReport report = sample(true);
  report.likely_cause.clear();
  report.also_right = {"b1 s64 h1 d64 FP16", "b1 s101 h1 d64 FP16"};
  EXPECT_THAT(render(debug_document(report), OutputFormat::table),
              AllOf(Not(HasSubstr("likely")), HasSubstr("nothing hints at the wrong one"),
                    HasSubstr("also run, and right: b1 s64 h1 d64 FP16, b1 s101 h1 d64 FP16\n")));
  EXPECT_EQ(as_json(report)["also_right"].size(), 2U);
}

TEST(DebugReport, WhatIsNotFiniteIsNullInJson) {
  DebugReport report = sample(true);
  report.checks[9].max_error = std::numeric_limits<double>::infinity();
  report.checks[9].first_wrong->kernel = std::numeric_limits<double>::quiet_NaN();
  const json first = as_json(report)["first_wrong"];
  EXPECT_TRUE(first["max_error"].is_null());
  EXPECT_TRUE(first["kernel"].is_null());
}

TEST(DebugReport, WithoutAKernelItIsLoudAndShowsTheEmulation) {
  DebugReport report = sample(false);
  report.why_not_measured = "the driver shows no GPU";
  for (StepCheck& check : report.checks) {
    check.max_error.reset();
  }
  const std::string text = render(debug_document(report), OutputFormat::table);
  EXPECT_THAT(text, HasSubstr("NO KERNEL RAN: the driver shows no GPU"));
  EXPECT_THAT(text, HasSubstr("1.00e-01"));
  EXPECT_THAT(text, Not(HasSubstr("all right")));
  EXPECT_EQ(as_json(report)["verdict"], "not_run");
  EXPECT_EQ(as_json(report)["measured"], false);
}

TEST(DebugReport, AnEmulatedOneSaysSoAndIsFlaggedByFindings) {
  DebugReport report = sample(false);
  report.why_not_measured = "the driver shows no GPU";
  report.emulated = true;
  EXPECT_TRUE(is_right(report));
  EXPECT_EQ(as_json(report)["emulated"], true);
  report.findings_count = 3;
  report.first_finding = "race: reads sK";
  EXPECT_FALSE(is_right(report));
  EXPECT_THAT(
      render(debug_document(report), OutputFormat::table),
      AllOf(HasSubstr("EMULATED on the CPU, not run on a GPU"), HasSubstr("THE EMULATOR FLAGS IT"),
            HasSubstr("race: reads sK"), Not(HasSubstr("all right"))));
  EXPECT_EQ(as_json(report)["verdict"], "flagged");
}

TEST(DebugReport, AKernelThatFailedIsNotRight) {
  DebugReport report = sample(false);
  report.failure = DebugFailure{OutcomeKind::crashed, "CUDA_ERROR_ILLEGAL_ADDRESS"};
  EXPECT_FALSE(is_right(report));
  EXPECT_THAT(render(debug_document(report), OutputFormat::table),
              HasSubstr("THE KERNEL FAILED: crashed: CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ(as_json(report)["failure"]["outcome"], "crashed");
}

TEST(DebugReport, TheSchemaHasNoOtherFields) {
  const json schema = json::parse(FileTree().read("configs/schema/debug.schema.json"));
  const json checks = schema["properties"]["checks"]["items"]["properties"];
  EXPECT_EQ(checks.size(), step_check_fields().size());
}

}  // namespace
}  // namespace fatune
