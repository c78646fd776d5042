#include "cli/option_groups.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseInteger, TakesDecimalDigitsWithinTheRange) {
  EXPECT_EQ(parse_integer("1", "--n", 1, 10), 1);
  EXPECT_EQ(parse_integer("0010", "--n", 1, 10), 10);
  for (const char* bad : {"", " 1", "1 ", "0", "11", "+1", "1e0", "0x1", "-1", "one"}) {
    EXPECT_THROW((void)parse_integer(bad, "--n", 1, 10), Error) << bad;
  }
}

TEST(ParseInteger, SaysWhetherTheTextOrTheRangeIsWrong) {
  const auto what = [](const char* text) {
    try {
      (void)parse_integer(text, "--n", 1, 10);
    } catch (const Error& error) {
      return error.what_was_wrong();
    }
    return std::string();
  };
  EXPECT_EQ(what("x"), "'x' is not an integer");
  EXPECT_EQ(what("-1"), "-1 is out of range");
  EXPECT_EQ(what("99999999999999999999"), "99999999999999999999 is out of range");
}

TEST(ParseNumber, TakesDecimalsWithinTheRange) {
  EXPECT_EQ(parse_number("0.5", "--n", 0.1, 100.0), 0.5);
  EXPECT_EQ(parse_number("20", "--n", 0.1, 100.0), 20.0);
  EXPECT_EQ(parse_number("1e1", "--n", 0.1, 100.0), 10.0);
  EXPECT_EQ(parse_number("100", "--n", 0.1, 100.0), 100.0);
  for (const char* bad :
       {"", " 1", "1 ", "0", "-1", "100.1", "1,5", "0x10", "1s", "nan", "inf", "-inf", "1e999"}) {
    EXPECT_THROW((void)parse_number(bad, "--n", 0.1, 100.0), Error) << bad;
  }
}

TEST(ParseNumber, SaysWhetherTheTextOrTheRangeIsWrong) {
  const auto error_of = [](const char* text) {
    try {
      (void)parse_number(text, "--n", 0.5, 100.0);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(error_of("x"), HasSubstr("'x' is not a number"));
  EXPECT_THAT(error_of("nan"), HasSubstr("'nan' is not a number"));
  EXPECT_THAT(error_of("0.1"), HasSubstr("0.1 is out of range"));
  EXPECT_THAT(error_of("0.1"), HasSubstr("from 0.5 to 100"));
  EXPECT_THAT(error_of("0.1"), HasSubstr("--n"));
}

TEST(ParseIntegerList, TakesItsRange) {
  EXPECT_THAT(parse_integer_list("2, 0,2,1", "--devices", 0, 7), ElementsAre(2, 0, 1));
  for (const char* bad : {"", ",", "0,", "0,,1", "8", "-1", "0,x", "all"}) {
    EXPECT_THROW((void)parse_integer_list(bad, "--devices", 0, 7), Error) << bad;
  }
}

TEST(ParsePositiveList, KeepsOrderAndDropsDuplicates) {
  EXPECT_THAT(parse_integer_list("4096, 512,4096,\t1024", "--seq", 1, 5000),
              ElementsAre(4096, 512, 1024));
}

TEST(ParseDTypeList, TakesAnyCase) {
  EXPECT_THAT(parse_dtype_list("BF16,fp16,Bf16", "--dtype"), ElementsAre(DType::bf16, DType::fp16));
}

}  // namespace
}  // namespace fatune
