#include "cli/numbers.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

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

TEST(ParsePositiveList, KeepsOrderAndDropsDuplicates) {
  EXPECT_THAT(parse_positive_list("4096, 512,4096,\t1024", "--seq", 5000),
              ElementsAre(4096, 512, 1024));
}

TEST(ParseDTypeList, TakesAnyCase) {
  EXPECT_THAT(parse_dtype_list("BF16,fp16,Bf16", "--dtype"), ElementsAre(DType::bf16, DType::fp16));
}

}  // namespace
}  // namespace fatune
