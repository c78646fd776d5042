#include "plan/estimate_rule.hpp"

#include <gmock/gmock.h>

#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const Problem kTimedProblem{1, 256, 2, 64, DType::fp16, false};

json a_model() {
  return {{"source", "a test"},
          {"quantities",
           {{{"name", "half"}, {"value", "BLOCK_ROWS / 2"}, {"unit", "rows"}, {"doc", "half"}}}},
          {"launch_clocks", "100"},
          {"tile_clocks", "half + 4"},
          {"step_clocks", "half * d_head"},
          {"schedule",
           {{"order", {{{"when", "causal"}, {"value", "one_ahead"}}, {{"value", "in_turn"}}}},
            {"sms", "sm_count"},
            {"heads", "batch * heads"},
            {"section_heads", "2"},
            {"rows", "seq_len / BLOCK_ROWS"},
            {"steps", "row + 1"}}}};
}

Family with_estimate(const json& estimate) {
  json family = fixtures::toy_json();
  family["estimate"] = estimate;
  return fixtures::load_changed(family);
}

std::optional<TimeModel> model_on(const json& model, const Problem& problem) {
  const Family family = with_estimate({{"model", model}});
  return time_model({family, {family.name, {5, 64, 32, 1}}, problem, fixtures::h200()});
}

TEST(EstimateRule, AFamilyNeedsNone) {
  const Family family = fixtures::load_changed(fixtures::toy_json());
  EXPECT_FALSE(
      time_model({family, {family.name, {5, 64, 32, 1}}, kTimedProblem, fixtures::h200()}));
}

TEST(EstimateRule, ItsExpressionsAreEvaluatedForAConfigurationAndAProblem) {
  const auto model = model_on(a_model(), kTimedProblem);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->launch_clocks, 100.0);
  EXPECT_EQ(model->tile_clocks, 20.0);
  EXPECT_EQ(model->step_clocks, 1024.0);
  EXPECT_EQ(model->schedule.order, TileOrder::in_turn);
  EXPECT_EQ(model->schedule.sms, 132);
  EXPECT_EQ(model->schedule.heads, 2);
  EXPECT_EQ(model->schedule.section_heads, 2);
  ASSERT_EQ(model->schedule.rows, 8);
  EXPECT_EQ(model->schedule.row_steps.at(0), 1.0);
  EXPECT_EQ(model->schedule.row_steps.at(7), 8.0);
  Problem causal = kTimedProblem;
  causal.causal = true;
  EXPECT_EQ(model_on(a_model(), causal)->schedule.order, TileOrder::one_ahead);
}

TEST(EstimateRule, MayHaveATimeOfTheMemoryAndParametersThatAreNotFitted) {
  EXPECT_EQ(model_on(a_model(), kTimedProblem)->memory_clocks, 0.0);
  json model = a_model();
  model["memory_clocks"] = "half * 3";
  model["not_fitted"] = {"BLOCK_ROWS"};
  EXPECT_EQ(model_on(model, kTimedProblem)->memory_clocks, 48.0);
  const Family family = with_estimate({{"model", model}});
  EXPECT_THAT(family.estimate.model->not_fitted,
              testing::ElementsAre(*find_parameter(family, "BLOCK_ROWS")));
  model["not_fitted"] = {"BLOCK_LINES"};
  try {
    (void)with_estimate({{"model", model}});
    FAIL() << "the parameter is unknown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no parameter 'BLOCK_LINES'"));
    EXPECT_THAT(error.what(), HasSubstr("one of dtype, d_head, BLOCK_ROWS"));
  }
}

TEST(EstimateRule, RowsOfALongProblemStandForOthers) {
  Problem longer = kTimedProblem;
  longer.seq_len = 32 * 1024 * 4;
  const auto model = model_on(a_model(), longer);
  EXPECT_EQ(model->schedule.rows, 1024);
  EXPECT_EQ(model->schedule.rows_each, 4.0);
  EXPECT_EQ(model->schedule.row_steps.back(), 4.0 * 1023 + 1);
}

TEST(EstimateRule, ImpossibleValuesAreErrorsThatNameTheExpression) {
  json negative = a_model();
  negative["step_clocks"] = "0 - half";
  fixtures::expect_error([&] { (void)model_on(negative, kTimedProblem); }, ExitCode::bad_file,
                         {"\"0 - half\" gives -16", "/estimate/model"});
  json no_sms = a_model();
  no_sms["schedule"]["sms"] = "0";
  fixtures::expect_error([&] { (void)model_on(no_sms, kTimedProblem); }, ExitCode::bad_file,
                         {"\"0\" gives 0, less than 1"});
  json other_order = a_model();
  other_order["schedule"]["order"] = "sideways";
  fixtures::expect_error([&] { (void)model_on(other_order, kTimedProblem); }, ExitCode::bad_file,
                         {"'sideways'", "one of even, in_turn"});
}

TEST(EstimateRule, TheOrderOfEstimatesThatNobodyComparedMeansNothing) {
  EXPECT_THAT(order_sentence(fixtures::load_changed(fixtures::toy_json()), Arch{90, 'a'}, 512),
              HasSubstr("means nothing"));
}

TEST(EstimateRule, TheOrderIsKnownOnTheArchitectureThatMeasured) {
  const Family family = with_estimate({{"checked",
                                        {{"on", "a GPU"},
                                         {"arch", "sm_90a"},
                                         {"problems", 3},
                                         {"rank_correlation", {{"least", 0.5}, {"greatest", 0.9}}},
                                         {"most_behind_percent", 4.5},
                                         {"least_queries", 512},
                                         {"held_out", true}}}});
  EXPECT_EQ(order_sentence(family, Arch{90, 'a'}, 512),
            "the order of toy_attention's estimates: rank correlation 0.50 to 0.90 with measured "
            "times of a GPU, lowest estimate at most 4.5 % behind the fastest (3 problems, each "
            "left out of the calibration)");
  EXPECT_THAT(order_sentence(family, Arch{80, '\0'}, 512), HasSubstr("; on sm_80 it is not known"));
  EXPECT_THAT(order_sentence(family, Arch{90, 'a'}, 1),
              HasSubstr("; for fewer than 512 queries, as in decoding, it is not known"));
}

}  // namespace
}  // namespace fatune
