#include "model/verdict.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(Verdict, NeedsTheWholeIntervalOnOneSideOfTheTolerance) {
  const auto of = [](double least, double greatest) {
    return verdict_of({0.0, least, greatest}, 2.0);
  };
  EXPECT_EQ(of(2.1, 9.0), Verdict::slower);
  EXPECT_EQ(of(1.9, 9.0), Verdict::undecided);
  EXPECT_EQ(of(-1.9, 1.9), Verdict::equal);
  EXPECT_EQ(of(-9.0, -2.1), Verdict::faster);
}

TEST(Verdict, TheToleranceIsOfTheLongerTime) {
  EXPECT_EQ(verdict_of({0.0, -60.0, -51.0}, 100.0), Verdict::faster);
  EXPECT_EQ(verdict_of({0.0, -49.0, 99.0}, 100.0), Verdict::equal);
}

TEST(Verdict, IsWorseWhereOneIsSlowerOrHasFailed) {
  std::vector<RivalCheck> checks(2);
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    checks[1].verdict = static_cast<Verdict>(i);
    EXPECT_EQ(is_worse(checks),
              checks[1].verdict == Verdict::slower || checks[1].verdict == Verdict::failed);
  }
}

}  // namespace
}  // namespace fatune
