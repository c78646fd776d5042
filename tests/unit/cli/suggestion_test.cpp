#include "cli/typed_words.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

const std::vector<std::string> kWords{"sweep", "run", "list", "compile", "devices", "doctor"};

TEST(ClosestWord, FindsSlipsOfTheFinger) {
  EXPECT_EQ(closest_word("swep", kWords), "sweep");
  EXPECT_EQ(closest_word("lsit", kWords), "list");
  EXPECT_EQ(closest_word("docter", kWords), "doctor");
}

TEST(ClosestWord, CompletesPrefixes) { EXPECT_EQ(closest_word("comp", kWords), "compile"); }

TEST(ClosestWord, HasNoOpinionOnOtherWords) {
  EXPECT_EQ(closest_word("benchmark", kWords), "");
  EXPECT_EQ(closest_word("", kWords), "");
  EXPECT_EQ(closest_word(std::string(100000, 's'), kWords), "");
  EXPECT_EQ(closest_word("x", {}), "");
}

}  // namespace
}  // namespace fatune
