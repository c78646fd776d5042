// What a file of results has is what it was written from.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "exhaustive.hpp"
#include "model/record_json.hpp"
#include "print/run_report.hpp"
#include "store/results_file.hpp"
#include "unit/store/random_report.hpp"

namespace fatune {
namespace {

std::string all_of(const RunReport& run) { return record_text(record_json(run)); }

TEST(LosslessResults, RandomReports) {
  const std::uint32_t reports = is_exhaustive() ? 10'000 : 2'000;
  for (std::uint32_t seed = 0; seed < reports; ++seed) {
    const RunReport report = RandomReport(seed).make();
    const auto read = read_results_text(json_text(results_object(report)), "random");
    ASSERT_EQ(read.size(), 1U);
    ASSERT_EQ(all_of(read[0]), all_of(report)) << seed;
  }
}

TEST(LosslessResults, RandomReportsDiffer) {
  EXPECT_NE(all_of(RandomReport(1).make()), all_of(RandomReport(2).make()));
}

TEST(LosslessResults, WhatFatuneShips) {
  for (const char* gpu : {"nvidia-h200", "nvidia-h100-80gb-hbm3"}) {
    const std::string path = fmt::format(FATUNE_SOURCE_DIR "/configs/tuned/{}.json", gpu);
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto read = read_results(path);
    ASSERT_EQ(read.size(), 1U);
    EXPECT_TRUE(best_configs_json(read[0]) == text) << path << " differs when it is written again";
  }
}

}  // namespace
}  // namespace fatune
