#include "plan/parameter.hpp"

#include <gtest/gtest.h>

#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

const Parameter& parameter(std::string_view name) {
  return fixtures::flash().parameters.at(find_parameter(fixtures::flash(), name).value());
}

TEST(Parameter, EnumeratorsReadInAnyCaseAndByCode) {
  const Parameter& dtype = parameter("dtype");
  EXPECT_EQ(parse_value(dtype, "fp16"), 5);
  EXPECT_EQ(parse_value(dtype, "Bf16"), 15);
  EXPECT_EQ(parse_value(dtype, "15"), 15);
  EXPECT_EQ(value_text(dtype, 5), "FP16");
  EXPECT_EQ(value_text(dtype, 7), "7");
  fixtures::expect_error([&] { (void)parse_value(dtype, "6"); }, ExitCode::usage,
                         {"'6' is not a value of dtype", "FP16, BF16"});
}

TEST(Parameter, BooleansReadAsWordsAndDigits) {
  const Parameter& flag = parameter("swizzled");
  EXPECT_EQ(parse_value(flag, "true"), 1);
  EXPECT_EQ(parse_value(flag, "0"), 0);
  EXPECT_EQ(value_text(flag, 1), "true");
  fixtures::expect_error([&] { (void)parse_value(flag, "2"); }, ExitCode::usage, {"false, true"});
}

TEST(Parameter, IntegersNeedNotBeUnderstood) {
  const Parameter& rows = parameter("B_r");
  EXPECT_EQ(parse_value(rows, "96"), 96);
  EXPECT_EQ(parse_value(rows, "2147483647"), 2147483647);
  for (const char* text :
       {"", "-1", "+1", "1.5", "64x", " 64", "0x40", "2147483648", "99999999999999999999"}) {
    fixtures::expect_error([&] { (void)parse_value(rows, text); }, ExitCode::usage,
                           {"is not a value of B_r", "64, 128, 256"});
  }
}

TEST(Parameter, ATypeThatTheFamilyLacksHasItsNameToo) {
  Parameter dtype = parameter("dtype");
  dtype.enumerators = {{"FP16", 5}};
  EXPECT_EQ(value_text(dtype, 15), "BF16");
  EXPECT_EQ(symbol_text("dtype", 15.0), "BF16");
  EXPECT_EQ(symbol_text("B_r", 15.0), "15");
  EXPECT_EQ(symbol_text("dtype", 7.5), "7.5");
}

TEST(Parameter, BoundPropertiesComeFromTheProblem) {
  const Problem problem{1, 2, 3, 64, DType::bf16};
  EXPECT_EQ(property_value(problem, ProblemProperty::dtype), 15);
  EXPECT_EQ(property_value(problem, ProblemProperty::d_head), 64);
}

}  // namespace
}  // namespace fatune
