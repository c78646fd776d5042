#include "inspect/counters/counter_fields.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::vector<std::string> names(const std::vector<CounterField>& fields) {
  std::vector<std::string> all;
  for (const CounterField& field : fields) {
    all.push_back(field.name);
  }
  return all;
}

CounterField only(const std::string& name) {
  return choose_counter_fields(std::vector<std::string>{name}).at(0);
}

TEST(CounterFields, StandardSetBeginsWithTimeRegistersAndL2) {
  const auto fields = names(counter_fields(CounterSet::standard));
  ASSERT_GE(fields.size(), 4U);
  EXPECT_THAT(
      std::vector(fields.begin(), fields.begin() + 4),
      ElementsAre("duration_us", "elapsed_cycles", "registers_per_thread", "l2_hit_rate_percent"));
}

TEST(CounterFields, AttentionSetHoldsTheStandardOne) {
  const auto all = names(counter_fields(CounterSet::attention));
  for (const std::string& name : names(counter_fields(CounterSet::standard))) {
    EXPECT_THAT(all, Contains(name));
  }
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
}

TEST(CounterFields, CoreSetNeedsNoInstrumentedInstructions) {
  for (const std::string& metric : hardware_metrics(counter_fields(CounterSet::core), 90)) {
    EXPECT_THAT(metric, Not(HasSubstr("sass")));
    EXPECT_THAT(metric, Not(HasSubstr("launch__")));
  }
}

TEST(CounterFields, MetricsOfAPartAreNamedOnce) {
  const auto metrics = raw_metrics(counter_fields(CounterSet::attention), 90);
  EXPECT_EQ(std::set(metrics.begin(), metrics.end()).size(), metrics.size());
  EXPECT_THAT(metrics, Contains("launch__registers_per_thread"));
  EXPECT_THAT(hardware_metrics(counter_fields(CounterSet::attention), 90),
              Not(Contains("launch__registers_per_thread")));
}

TEST(CounterFields, OlderChipsAreNotAskedForHoppersMetrics) {
  constexpr const char* kGmma = "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio";
  EXPECT_THAT(raw_metrics(counter_fields(CounterSet::attention), 80), Not(Contains(kGmma)));
  EXPECT_THAT(raw_metrics(counter_fields(CounterSet::attention), 90), Contains(kGmma));
}

TEST(CounterFields, NamesChooseSetsFiguresAndRawMetrics) {
  const std::vector<std::string> asked = {"duration_us", "lts__t_bytes.sum", "duration_us"};
  const auto fields = choose_counter_fields(asked);
  EXPECT_THAT(names(fields), ElementsAre("duration_us", "lts__t_bytes.sum"));
  EXPECT_THAT(fields[1].numerator, ElementsAre("lts__t_bytes.sum"));
}

TEST(CounterFields, OtherNamesAreRefusedWithThoseThereAre) {
  for (const char* name : {"", "l2", "__x", "a__b;c", "duration__us --set full"}) {
    try {
      (void)only(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("l2_hit_rate_percent"));
    }
  }
}

TEST(Derive, ScalesAndDivides) {
  EXPECT_EQ(derive(only("duration_us"), {{"gpu__time_duration.sum", 18624.0}}), 18.624);
  const RawCounters shared = {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 30.0},
                              {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 120.0}};
  EXPECT_EQ(derive(only("bank_conflict_percent"), shared), 25.0);
}

TEST(Derive, LoadEfficiencyAddsLoadsAndAsynchronousCopies) {
  const RawCounters raw = {{"smsp__sass_data_bytes_mem_global_op_ld.sum", 64.0},
                           {"smsp__sass_data_bytes_mem_global_op_ldgsts.sum", 256.0},
                           {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 12.0},
                           {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 8.0}};
  EXPECT_EQ(derive(only("global_load_efficiency_percent"), raw), 50.0);
}

TEST(Derive, NothingWithoutAMetricOrWithNothingToDivideBy) {
  const CounterField field = only("warp_execution_efficiency_percent");
  EXPECT_EQ(derive(field, {{"smsp__thread_inst_executed.sum", 1.0}}), std::nullopt);
  EXPECT_EQ(
      derive(field, {{"smsp__thread_inst_executed.sum", 0.0}, {"smsp__inst_executed.sum", 0.0}}),
      std::nullopt);
}

TEST(Derive, AveragesOverTheRunsThatHaveAValue) {
  const std::vector<CounterField> fields = {only("duration_us"), only("elapsed_cycles")};
  const std::vector<RawCounters> runs = {
      {{"gpu__time_duration.sum", 1000.0}, {"sm__cycles_elapsed.max", 10.0}},
      {{"gpu__time_duration.sum", 3000.0}}};
  EXPECT_THAT(derive_averages(fields, runs),
              ElementsAre(Pair("duration_us", 2.0), Pair("elapsed_cycles", 10.0)));
  EXPECT_TRUE(derive_averages(fields, {}).empty());
}

}  // namespace
}  // namespace fatune
