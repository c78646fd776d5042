#include "print/comparisons.hpp"

#include <gmock/gmock.h>

#include "model/flop.hpp"
#include "print/document/document.hpp"
#include "print/run_report.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The winner takes 100 us; dense products reach 800 TFLOP/s, and the clock's median is 1905 MHz.
class Roofline : public testing::Test {
 protected:
  ProblemReport& problem() { return report_.problems[0]; }
  Result& winner() { return problem().ranking[0]; }
  [[nodiscard]] double tflops() { return literature_flop(problem().problem) / 100.0 / 1e6; }
  [[nodiscard]] std::string text() { return roofline_text(report_, problem()); }

  RunReport report_ = sample_race();
};

TEST_F(Roofline, PercentagesAreOfDenseProductsAndOfThePeakAtTheClock) {
  EXPECT_NEAR(*literature_tflops(problem(), winner()), tflops(), 1e-9);
  EXPECT_NEAR(*percent_of_matmul(problem(), winner()), 100.0 * tflops() / 800.0, 1e-9);
  const double peak_tflops = 4096 * 132 * 1905.0 / 1e6;
  EXPECT_NEAR(*percent_of_peak_at_clock(report_, problem(), winner()),
              100.0 * tflops() / peak_tflops, 1e-9);
}

TEST_F(Roofline, TheTableHasALineOfTheWinner) {
  problem().matmul->tflops = 2.0 * tflops();
  EXPECT_THAT(text(), HasSubstr("winner: 344 TFLOP/s, 50 % of the 687 TFLOP/s that dense products "
                                "reached in this run at 1755 MHz, 33 % of the peak at 1905 MHz\n"));
  EXPECT_THAT(render(run_document(report_, 10), OutputFormat::table), HasSubstr(text()));
  EXPECT_THAT(render(run_document(report_), OutputFormat::markdown), HasSubstr("|\n\n" + text()));
}

// Tensors of 134 MB.
TEST_F(Roofline, WhereTheMemoryIsNearerTheLineIsOfBytes) {
  EXPECT_NEAR(*gb_per_s(problem(), winner()), 1342.18, 0.01);
  EXPECT_NEAR(*percent_of_reads(problem(), winner()), 33.55, 0.01);
  EXPECT_THAT(render(run_document(report_, 10), OutputFormat::table), Not(HasSubstr("GB/s")));
  report_.device.memory_gbps = 2000.0;
  EXPECT_EQ(text(),
            "winner: 1.34 TB/s, 34 % of the 4.00 TB/s that reads reached in this run, 67 % "
            "of the memory's 2.00 TB/s\n");
  EXPECT_THAT(render(run_document(report_, 10), OutputFormat::table),
              testing::AllOf(HasSubstr("  GB/s  "), HasSubstr("  1342  "), HasSubstr(text())));
  problem().memory.reset();
  EXPECT_FALSE(percent_of_reads(problem(), winner()));
  EXPECT_EQ(text(), "winner: 1.34 TB/s, 67 % of the memory's 2.00 TB/s\n");
  winner().reused = true;
  EXPECT_EQ(text(), "");
}

TEST_F(Roofline, WhatIsNotKnownIsLeftOut) {
  problem().matmul.reset();
  EXPECT_FALSE(percent_of_matmul(problem(), winner()));
  EXPECT_THAT(text(), Not(HasSubstr("dense")));
  EXPECT_THAT(text(), HasSubstr(" TFLOP/s, 33 % of the peak at 1905 MHz"));
  report_.device.arch = Arch{130, '\0'};
  EXPECT_FALSE(percent_of_peak_at_clock(report_, problem(), winner()));
  EXPECT_EQ(text(), "");
}

TEST_F(Roofline, NoClockIsNoPeak) {
  problem().conditions->sm_mhz_median = 0.0;
  EXPECT_FALSE(percent_of_peak_at_clock(report_, problem(), winner()));
  problem().conditions.reset();
  EXPECT_FALSE(percent_of_peak_at_clock(report_, problem(), winner()));
  problem().matmul->sm_mhz = 0.0;
  EXPECT_THAT(text(), testing::EndsWith("in this run\n"));
}

TEST_F(Roofline, ATimeOfAnEarlierRunIsNotComparedWithThisOne) {
  winner().reused = true;
  EXPECT_FALSE(percent_of_matmul(problem(), winner()));
  EXPECT_FALSE(percent_of_peak_at_clock(report_, problem(), winner()));
  EXPECT_EQ(text(), "");
}

TEST_F(Roofline, FailuresAndEstimatesHaveNone) {
  EXPECT_FALSE(percent_of_matmul(problem(), problem().failures[0]));
  winner().outcome = Estimated{};
  EXPECT_FALSE(percent_of_matmul(problem(), winner()));
  problem().ranking.clear();
  EXPECT_EQ(text(), "");
}

}  // namespace
}  // namespace fatune
