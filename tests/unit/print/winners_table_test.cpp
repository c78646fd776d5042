#include "print/comparisons.hpp"

#include <gmock/gmock.h>

#include "print/document/document.hpp"
#include "print/run_report.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

Json row_of(const RunReport& run) { return json_summary(run)["winners"].at(0); }

/// A race of one problem. Its winner takes 100 us, the next 200 us; the clock is 1905 MHz.
class Winners : public testing::Test {
 protected:
  Result& winner() { return problem().ranking[0]; }
  Result& next() { return problem().ranking[1]; }
  ProblemReport& problem() { return run_.problems[0]; }

  RunReport run_ = sample_race();
};

TEST_F(Winners, OneProblemIsASentenceAboutItsWinner) {
  EXPECT_EQ(winners_sentence(run_),
            "fastest of 2 on b16 s512 h16 d128 FP16: (FP16, 1): fast|odd, 100.0 us +-0.5 %, 344 "
            "TFLOP/s, 33 % of the tensor cores' peak at 1905 MHz; the next is 100.0 % slower");
}

TEST_F(Winners, TiesAreSaid) {
  next().tie_group = 1;
  EXPECT_THAT(winners_sentence(run_), HasSubstr("; 1 other cannot be told apart from it"));
  EXPECT_EQ(row_of(run_)["tied_with"], 1);
}

TEST_F(Winners, HowSureItIsIsTheMediansInterval) {
  EXPECT_EQ(row_of(run_)["low_us"], 99.5);
  EXPECT_EQ(row_of(run_)["high_us"], 100.5);
  EXPECT_DOUBLE_EQ(row_of(run_)["precision_percent"], 0.5);
  std::get<Measured>(winner().outcome).timing.median_low_us = 100.5;
  EXPECT_TRUE(row_of(run_)["precision_percent"].is_null()) << "only the median is known";
  EXPECT_TRUE(row_of(sample_report(false))["precision_percent"].is_null()) << "an estimate";
}

TEST_F(Winners, TheNearerRoofMayBeTheMemory) {
  EXPECT_EQ(row_of(run_)["roof"], "compute");
  run_.device.memory_gbps = 2000.0;
  const double bytes = 4.0 * 16 * 512 * 16 * 128 * 2;
  EXPECT_EQ(row_of(run_)["roof"], "memory") << "tensors of " << bytes << " bytes in 100 us";
  EXPECT_NEAR(row_of(run_)["roof_percent"].get<double>(), 100.0 * bytes / 100e-6 / 2000e9, 1e-9);
  EXPECT_THAT(winners_sentence(run_), HasSubstr(", 1.34 TB/s, 67 % of the memory's 2.00 TB/s"));
  EXPECT_NEAR(row_of(run_)["gb_per_s"].get<double>(), bytes / 100e-6 / 1e9, 1e-9);
  run_.device.memory_gbps = 20000.0;
  EXPECT_EQ(row_of(run_)["roof"], "compute");
}

TEST_F(Winners, WithoutAClockThePeakIsAtTheGreatestOne) {
  run_.device.clock_khz = 1980000;
  problem().conditions.reset();
  EXPECT_NEAR(row_of(run_)["roof_percent"].get<double>(),
              100.0 * row_of(run_)["literature_tflops"].get<double>() / (4096 * 132 * 1980e-6),
              1e-9);
  run_.device.arch = Arch{130, '\0'};
  EXPECT_TRUE(row_of(run_)["roof"].is_null());
}

TEST_F(Winners, SeveralProblemsAreATableBeforeEverythingElse) {
  run_.problems.push_back(problem());
  run_.problems[1].problem.seq_len = run_.problems[1].problem.seq_len_kv = 1024;
  run_.problems[1].ranking[1].tie_group = 1;
  run_.problems.push_back(problem());
  run_.problems[2].problem.seq_len = run_.problems[2].problem.seq_len_kv = 2048;
  run_.problems[2].ranking.clear();
  EXPECT_THAT(winners_sentence(run_),
              HasSubstr("winners of 3 problems on Test GPU: 1 alone in front, 1 tied with others, "
                        "1 without any; 33 to 133 % of the nearer roof"));
  const std::string text = render(run_document(run_), OutputFormat::markdown);
  const std::size_t table = text.find(
      "| problem | winner | us | +- % | TFLOP/s | roof % | roof | "
      "lead % | tied |");
  ASSERT_NE(table, std::string::npos) << text;
  EXPECT_LT(table, text.find("measured: true"));
  EXPECT_LT(table, text.find("2 ranked, "));
}

TEST_F(Winners, AnEstimateIsSaidToBeOne) {
  EXPECT_THAT(winners_sentence(sample_report(false)),
              testing::StartsWith("estimate: fastest of 2"));
}

TEST_F(Winners, NothingRankedIsSaid) {
  problem().ranking.clear();
  EXPECT_EQ(winners_sentence(run_), "no configuration has a time");
}

TEST_F(Winners, ARaceForACoverHasNoneOfItsOwn) {
  run_.problems.push_back(problem());
  run_.problems[1].run = 2;
  EXPECT_EQ(problems_of(run_).size(), 1U);
}

}  // namespace
}  // namespace fatune
