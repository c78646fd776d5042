#include "counters/number_text.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "counters/unit.hpp"

namespace fatune {
namespace {

constexpr NumberStyle kPoint{'.'};
constexpr NumberStyle kComma{','};

char style_of(const std::vector<std::string_view>& texts) {
  return find_number_style(texts, "t.csv").decimal;
}

TEST(NumberText, ReadsWhatLocalesWrite) {
  EXPECT_EQ(read_number("33,742", kPoint), 33742.0);
  EXPECT_EQ(read_number("1,153,966,101,694.92", kPoint), 1153966101694.92);
  EXPECT_EQ(read_number("33.742,5", kComma), 33742.5);
  EXPECT_EQ(read_number("33 742", kComma), 33742.0);
  EXPECT_EQ(read_number("33\u00a0742,5", kComma), 33742.5);
  EXPECT_EQ(read_number("33\u202f742", kPoint), 33742.0);
  EXPECT_EQ(read_number("1'234\u00a0567", kPoint), std::nullopt) << "one kind of separator";
  EXPECT_EQ(read_number("1\u2019234.5", kPoint), 1234.5);
  EXPECT_EQ(read_number("-0.5", kPoint), -0.5);
  EXPECT_EQ(read_number("+1.5e+06", kPoint), 1500000.0);
  EXPECT_EQ(read_number("105728", kComma), 105728.0);
}

TEST(NumberText, WhatIsNoNumberHasNoValue) {
  for (const char* text : {"", "-", "no data", "n/a", "(!) n/a", "nan", "inf", "No-CC", "12abc",
                           "1.2.3", "1e", "0x10", ".5", "2024-11-13", "1 2", "1e999"}) {
    EXPECT_EQ(read_number(text, kPoint), std::nullopt) << text;
  }
}

TEST(NumberText, DigitsAreGroupedByThree) {
  for (const char* text : {"1,23", "1234,567", "1,2345", "0,123", ",123", "1,,234"}) {
    EXPECT_EQ(read_number(text, kPoint), std::nullopt) << text;
  }
}

TEST(NumberText, OneTextCanDecideForAll) {
  EXPECT_EQ(style_of({"33,742", "1.80"}), '.');
  EXPECT_EQ(style_of({"33.742", "1,80"}), ',');
  EXPECT_EQ(style_of({"0,123", "12"}), ',');
  EXPECT_EQ(style_of({"1.234.567"}), ',');
  EXPECT_EQ(style_of({"33 742", "no data"}), '.');
}

TEST(NumberText, ThreeDecimalsAreNotExpected) {
  EXPECT_EQ(style_of({"1,234"}), '.');
  EXPECT_EQ(style_of({"1.234", "5"}), ',');
  EXPECT_EQ(style_of({"-1,234"}), '.');
}

TEST(NumberText, WhatCouldMeanTwoThingsIsRefused) {
  for (const std::vector<std::string_view>& texts :
       std::vector<std::vector<std::string_view>>{{"1,234", "5.678"}, {"1,80", "1.80"}}) {
    try {
      (void)style_of(texts);
      ADD_FAILURE() << texts.front();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_file);
      EXPECT_THAT(error.what(), testing::HasSubstr("t.csv"));
    }
  }
}

TEST(Unit, SpellingsOfAllYearsComeToTheSame) {
  for (const char* unit : {"us", "usecond"}) {
    EXPECT_DOUBLE_EQ(base_unit_factor(unit), 1e3) << unit;
  }
  EXPECT_DOUBLE_EQ(base_unit_factor("ns"), 1.0);
  EXPECT_DOUBLE_EQ(base_unit_factor("nsecond"), 1.0);
  EXPECT_DOUBLE_EQ(base_unit_factor("msecond"), 1e6);
  EXPECT_DOUBLE_EQ(base_unit_factor("second"), 1e9);
  for (const char* unit : {"Gbyte/s", "Gbyte/second"}) {
    EXPECT_DOUBLE_EQ(base_unit_factor(unit), 1e9) << unit;
  }
  EXPECT_DOUBLE_EQ(base_unit_factor("byte/ns"), 1e9);
  EXPECT_DOUBLE_EQ(base_unit_factor("Ghz"), 1e9);
  EXPECT_DOUBLE_EQ(base_unit_factor("Kbyte/block"), 1e3);
  for (const char* unit : {"", "%", "cycle", "register/thread", "inst"}) {
    EXPECT_DOUBLE_EQ(base_unit_factor(unit), 1.0) << unit;
  }
}

}  // namespace
}  // namespace fatune
