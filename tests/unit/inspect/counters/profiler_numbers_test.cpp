#include "inspect/counters/profiler_numbers.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(NumberText, MayHaveGroupsASignAndAnExponent) {
  EXPECT_EQ(read_number("33,742"), 33742.0);
  EXPECT_EQ(read_number("1,153,966,101,694.92"), 1153966101694.92);
  EXPECT_EQ(read_number("-123,456"), -123456.0);
  EXPECT_EQ(read_number("-0.5"), -0.5);
  EXPECT_EQ(read_number("+1.5e+06"), 1500000.0);
  EXPECT_EQ(read_number("105728"), 105728.0);
}

TEST(NumberText, WhatIsNoNumberHasNoValue) {
  for (const char* text : {"", "-", "no data", "n/a", "(!) n/a", "nan", "inf", "No-CC", "12abc",
                           "1.2.3", "1e", "0x10", ".5", "2024-11-13", "1 2", "1e999"}) {
    EXPECT_EQ(read_number(text), std::nullopt) << text;
    EXPECT_FALSE(is_of_other_locale(text)) << text;
  }
}

TEST(NumberText, DigitsAreGroupedByThree) {
  for (const char* text : {"1,23", "1234,567", "1,2345", "0,123", ",123", "1,,234", "1.2,3"}) {
    EXPECT_EQ(read_number(text), std::nullopt) << text;
  }
}

TEST(NumberText, OtherLocalesAreTold) {
  for (const char* text : {"1,80", "0,123", "33.742", "1.234.567", "33.742,5", "33 742", "-1.234",
                           "33\u00a0742,5", "33\u202f742", "1'234", "1\u2019234.5"}) {
    EXPECT_TRUE(is_of_other_locale(text)) << text;
  }
  for (const char* text : {"1,234", "1.80", "0.356", "1.153966", "127.0.0.1", "1,234.567890"}) {
    EXPECT_FALSE(is_of_other_locale(text)) << text;
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
