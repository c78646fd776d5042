#include "core/members.hpp"

#include <string>

#include <gtest/gtest.h>

namespace fatune {
namespace {

struct Pair {
  int first = 1;
  int second = 2;
};
FATUNE_MEMBERS(Pair, first, second)

struct Longer {
  int first = 1;
  int second = 2;
  int third = 3;
};
FATUNE_MEMBERS_AND_LATER(Longer, (first, second), third)

std::string listed(const auto& value) {
  std::string text;
  visit_members(value, [&](std::string_view name, const auto& member, auto... later) {
    text += std::string(name) + "=" + std::to_string(member);
    text += sizeof...(later) == 0 ? ";" : " later;";
  });
  return text;
}

TEST(Members, AreVisitedInTheirOrderWithTheirNames) {
  EXPECT_EQ(listed(Pair{}), "first=1;second=2;");
}

TEST(Members, SayWhichCameLater) { EXPECT_EQ(listed(Longer{}), "first=1;second=2;third=3 later;"); }

TEST(Members, CanBeWritten) {
  Pair pair;
  visit_members(pair, [](std::string_view, int& member) { member += 10; });
  EXPECT_EQ(listed(pair), "first=11;second=12;");
}

}  // namespace
}  // namespace fatune
