#include "inspect/counters/profiler_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "unit/inspect/counters/recorded.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

constexpr const char* kDuration = "gpu__time_duration.sum";

std::vector<ProfiledLaunch> read(const std::string& name) {
  return read_ncu_csv(recorded(name), name);
}

void expect_ncu_refused(const std::string& text, const std::string& part) {
  try {
    (void)read_ncu_csv(text, "t.csv");
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(NcuReport, RawPageHasARowForEachLaunch) {
  const auto launches = read("raw_base.csv");
  ASSERT_EQ(launches.size(), 4U);
  EXPECT_THAT(launches[2].kernel_name, HasSubstr("FlashForwardKernelConfig{5, 128, 128, 64, 4,"));
  const RawCounters& counters = launches[2].counters;
  EXPECT_EQ(counters.at(kDuration), 105728.0);
  EXPECT_EQ(counters.at("sm__cycles_elapsed.max"), 183300.0);
  EXPECT_EQ(counters.at("launch__registers_per_thread"), 255.0);
  EXPECT_EQ(counters.at("lts__t_sector_hit_rate.pct"), 54.68);
  EXPECT_EQ(counters.at("dram__bytes.sum.per_second"), 1153966101694.92);
}

TEST(NcuReport, ValuesThatAreNoNumbersAreLeftOut) {
  const RawCounters counters = read("raw_base.csv").at(0).counters;
  EXPECT_EQ(counters.count("derived__local_spilling_requests_pct"), 0U) << "no data";
  EXPECT_EQ(counters.count("launch__func_cache_config"), 0U) << "text";
  EXPECT_EQ(read("full_raw.csv")
                .at(0)
                .counters.count("LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct"),
            0U);
}

TEST(NcuReport, ScaledUnitsComeToTheBaseUnits) {
  const RawCounters scaled = read("raw_auto.csv").at(2).counters;
  const RawCounters base = read("raw_base.csv").at(2).counters;
  for (const char* metric : {kDuration, "sm__cycles_elapsed.max", "launch__shared_mem_config_size",
                             "dram__bytes.sum.per_second", "gpc__cycles_elapsed.avg.per_second"}) {
    EXPECT_NEAR(scaled.at(metric) / base.at(metric), 1.0, 1e-6) << metric;
  }
}

TEST(NcuReport, OtherLocalesAreRefused) {
  for (const char* name : {"written_de.csv", "written_fr.csv", "written_ch.csv"}) {
    expect_ncu_refused(recorded(name), "LC_ALL=C");
  }
}

TEST(NcuReport, DetailsPageIsReadByLabels) {
  const auto launches = read("details_base.csv");
  ASSERT_EQ(launches.size(), 2U);
  const RawCounters raw = read("raw_base.csv").at(2).counters;
  for (const char* metric : {kDuration, "sm__cycles_elapsed.max", "launch__registers_per_thread",
                             "lts__t_sector_hit_rate.pct", "dram__bytes.sum.per_second",
                             "l1tex__t_sector_hit_rate.pct"}) {
    EXPECT_EQ(launches[1].counters.at(metric), raw.at(metric)) << metric;
  }
}

TEST(NcuReport, LinesOfTheProgramAroundTheTableAreLeftOut) {
  const auto launches = read("live.txt");
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].counters.at(kDuration), 18752.0);
  EXPECT_EQ(launches[1].counters.at("sm__cycles_elapsed.max"), 32650.0);
}

TEST(NcuReport, OlderColumnsAndUnitsAreRead) {
  const auto launches = read("written_2022_kernel_time.csv");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].counters.at(kDuration), 105728.0);
  EXPECT_EQ(launches[0].counters.at("dram__bytes.sum.per_second"), 1.15e12);
}

TEST(NcuReport, LaunchesAreInTheOrderOfTheirNumbers) {
  const auto launches = read_ncu_csv(
      "\"ID\",\"Kernel "
      "Name\",\"a__b.sum\"\n\"\",\"\",\"\"\n\"10\",\"k\",\"3\"\n\"9\",\"k\",\"2\"\n",
      "t.csv");
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].counters.at("a__b.sum"), 2.0);
}

TEST(NcuReport, ALocaleThatIsKnownIsNotChecked) {
  const std::string text =
      "\"ID\",\"Kernel Name\",\"a__b.sum\",\"c__d.sum\"\n,,,\n0,k,\"1,234\",\"5.678\"\n";
  expect_ncu_refused(text, "5.678");
  EXPECT_EQ(read_ncu_csv(text, "t.csv", true).at(0).counters.at("c__d.sum"), 5.678);
}

TEST(NcuReport, WhatIsNoTableIsRefused) {
  expect_ncu_refused("", "no table");
  expect_ncu_refused(recorded("messages_no_match.txt"), "no table");
  expect_ncu_refused(std::string("\"ID\",\0", 6), "NUL");
  expect_ncu_refused("\"ID\",\"Metric Name\"\n", "'Kernel Name'");
  expect_ncu_refused("\"ID\",\"Kernel Name\",\"a__b\"\n", "units");
  expect_ncu_refused("\"ID\",\"Kernel Name\",\"Metric Name\"\n0,k,m\n", "'Metric Unit'");
  expect_ncu_refused("\"ID\",\"Kernel Name\",\"a__b\"\n,,\nx,k,1\n", "'x'");
}

TEST(NcuReport, RowsThatAreCutShortAreRefused) {
  std::string text = recorded("raw_base.csv");
  expect_ncu_refused(text.substr(0, text.size() - 60), "t.csv");
  text = recorded("details_base.csv");
  expect_ncu_refused(text.substr(0, text.size() - 30), "t.csv");
}

}  // namespace
}  // namespace fatune
