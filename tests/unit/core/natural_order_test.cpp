#include "core/natural_order.hpp"

#include <gmock/gmock.h>

#include <set>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(NaturalOrder, HasNumbersBySizeAndTextBehindThem) {
  const std::set<std::string, NaturalOrder> texts{"b", "10", "2.5", "a", "-3", "true", "false"};
  EXPECT_THAT(texts, ElementsAre("-3", "2.5", "10", "a", "b", "false", "true"));
}

TEST(NaturalOrder, OrdersPairsByTheFirstThenTheSecond) {
  using Texts = std::pair<std::string, std::string>;
  const std::set<Texts, NaturalOrder> pairs{{"10", "x"}, {"9", "10"}, {"9", "9"}};
  EXPECT_THAT(pairs, ElementsAre(Pair("9", "9"), Pair("9", "10"), Pair("10", "x")));
}

}  // namespace
}  // namespace fatune
