#include "model/measure_policy.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(EliminationText, IsReadBackAsItsRound) {
  EXPECT_EQ(elimination_text(0), "eliminated at admission");
  EXPECT_EQ(elimination_text(25), "eliminated in round 25");
  for (const int round : {0, 1, 25, 1000}) {
    EXPECT_EQ(elimination_round(elimination_text(round)), round);
  }
}

TEST(EliminationText, OtherTextsHaveNoRound) {
  for (const auto* text : {"", "target reached", "eliminated in round ", "eliminated in round 2x",
                           "eliminated in round 99999999999999999999", "eliminated"}) {
    EXPECT_FALSE(elimination_round(text)) << text;
  }
}

}  // namespace
}  // namespace fatune
