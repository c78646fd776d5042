#include "base/text_parts.hpp"

#include <set>

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextParts, TrimAndTakeUntil) {
  EXPECT_EQ(trim(" \t a b\r"), "a b");
  EXPECT_EQ(trim("  "), "");
  std::string_view text = "a,b";
  EXPECT_EQ(take_until(text, ','), "a");
  EXPECT_EQ(take_until(text, ','), "b");
  EXPECT_EQ(take_until(text, ','), "");
}

TEST(TextParts, BetweenNeedsBothEnds) {
  EXPECT_EQ(between("File \"a.cu\", line", "\"", "\""), "a.cu");
  EXPECT_EQ(between("File \"a.cu", "\"", "\""), "");
  EXPECT_EQ(between("x", "\"", "\""), "");
}

TEST(TextParts, OperandsAreSplitOutsideBrackets) {
  EXPECT_THAT(split_operands("{a, b}, [c+4], f(x, y) , z"),
              ElementsAre("{a, b}", "[c+4]", "f(x, y)", "z"));
  EXPECT_THAT(split_operands(" , "), IsEmpty());
}

TEST(TextParts, ANumberIsAllOfTheText) {
  EXPECT_EQ(whole_number<int>("12"), 12);
  EXPECT_EQ(whole_number<int>("1f", 16), 31);
  EXPECT_FALSE(whole_number<int>("12 "));
  EXPECT_FALSE(whole_number<int>("99999999999"));
  EXPECT_FALSE(whole_number<int>(""));
}

TEST(TextParts, AreJoinedWithSeparatorsBetween) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(joined(std::vector<int>{1, 2}, "; ", [](int item) { return std::to_string(item); }),
            "1; 2");
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
}

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
