#include "base/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void expect_refused(const std::string& text, const std::string& part) {
  try {
    (void)read_csv(text, "t.csv");
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(Csv, QuotedCellsHoldCommasQuotesAndLineBreaks) {
  EXPECT_THAT(read_csv("\"a,b\",\"say \"\"x\"\"\"\r\n\"1\n2\",c\n", "t.csv"),
              ElementsAre(ElementsAre("a,b", "say \"x\""), ElementsAre("1\n2", "c")));
}

TEST(Csv, ALastLineNeedsNoEndAndEmptyCellsStay) {
  EXPECT_THAT(read_csv("a,,\n\nb", "t.csv"),
              ElementsAre(ElementsAre("a", "", ""), ElementsAre("b")));
  EXPECT_TRUE(read_csv("", "t.csv").empty());
}

TEST(Csv, WhatIsCutShortOrNoTextIsRefused) {
  expect_refused("a\n\"b", "t.csv, row 2");
  expect_refused("a\nb\"c\n", "t.csv, row 2");
  expect_refused(std::string("a\0b", 3), "NUL");
  expect_refused("a\nb,\xfc\n", "t.csv, row 2");
}

}  // namespace
}  // namespace fatune
