#include "base/members.hpp"

#include <string>

#include <gtest/gtest.h>

namespace fatune {
namespace {

struct Pair {
  int first = 1;
  int second = 2;
};
FATUNE_MEMBERS(Pair, first, second)

struct Described {
  Pair pair;
  std::string text;
  int count = 0;
};
FATUNE_DESCRIBED(Described, (pair, kFlat), (text, Key{"words"}, "what it says"),
                 (count, kOrNull, "how many there are, if any"))

std::string listed(const Pair& value) {
  std::string text;
  visit_members(value, [&](const MemberInfo& info, int member) {
    text += std::string(info.name) + "=" + std::to_string(member) + ";";
  });
  return text;
}

TEST(Members, AreVisitedInTheirOrderWithTheirNames) {
  EXPECT_EQ(listed(Pair{}), "first=1;second=2;");
}

TEST(Members, CanBeWritten) {
  Pair pair;
  visit_members(pair, [](const MemberInfo&, int& member) { member += 10; });
  EXPECT_EQ(listed(pair), "first=11;second=12;");
}

TEST(Members, MayHaveDescriptions) {
  std::string text;
  const Described described;
  visit_members(described, [&]<typename Info>(const Info& info, const auto&) {
    text += std::string(info.name) + (info.or_null ? "?" : "") +
            (std::is_same_v<Info, FlatMember> ? "" : ": " + std::string(info.doc)) + "\n";
  });
  EXPECT_EQ(text, "pair\nwords: what it says\ncount?: how many there are, if any\n");
}

}  // namespace
}  // namespace fatune
