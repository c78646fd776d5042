#include "plan/config_text.hpp"

#include <gtest/gtest.h>

#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;

constexpr const char* kCanonical =
    "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax";

void expect_bad(const std::string& text, const std::vector<std::string>& parts) {
  fixtures::expect_error([&] { (void)parse_short_form(flash(), text); }, ExitCode::usage, parts);
}

TEST(ShortForm, PrintsTypeTilesAndFlags) {
  const Config all{"flash_sm80", {5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 2, 1, 1}};
  EXPECT_EQ(short_form(flash(), all), kCanonical);
  const Config none{"flash_sm80", {15, 64, 128, 32, 8, 0, 0, 0, 2, 2, 0, 0, 0}};
  EXPECT_EQ(short_form(flash(), none), "(BF16, 64, 128, 32, 8): load_2_2_0_tiles");
}

TEST(ShortForm, ReadsWhatPeopleType) {
  const Config expected = parse_short_form(flash(), kCanonical);
  EXPECT_EQ(expected.values, (std::vector<ParamValue>{5, 128, 64, 64, 4, 1, 1, 1, 0, 2, 2, 1, 1}));
  for (const char* text : {
           "(FP16,128,64,64,4):async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax",
           "(fp16, 128, 64, 64, 4) : async + eager+swizzled+load_0_2_2_tiles + buffer+opt_softmax",
           "\t( fP16 ,128\n,64 , 64,4 "
           "):\r\nasync+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax ",
           "(FP16, 128, 64, 64, 4): opt_softmax+load_0_2_2_tiles+buffer+async+eager+swizzled",
           "|(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax|",
           " | (FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax  "
           "| ",
       }) {
    EXPECT_EQ(parse_short_form(flash(), text), expected) << text;
  }
}

TEST(ShortForm, NamesWhatItCannotRead) {
  expect_bad("", {"expected '('", "position 1", "it ends there", "write it as"});
  expect_bad("hello", {"expected '('", "found 'hello'"});
  expect_bad("(FP16, 128, 64, 64): load_0_0_0_tiles", {"expected ','", "position 19"});
  expect_bad("(FP16, 128, 64, 64, 4, 4): load_0_0_0_tiles", {"expected ')'"});
  expect_bad("(FP16, 128, 64, 64, 4) load_0_0_0_tiles", {"expected ':'"});
  expect_bad("(FP32, 128, 64, 64, 4): load_0_0_0_tiles",
             {"'FP32' is not a value of dtype", "BF16"});
  expect_bad("(FP16, x, 64, 64, 4): load_0_0_0_tiles",
             {"'x' is not a value of d_head", "64, 96, 128, 256"});
  expect_bad("(FP16, -1, 64, 64, 4): load_0_0_0_tiles",
             {"expected a value of d_head", "found '-1"});
}

TEST(ShortForm, NamesBadFlags) {
  expect_bad(
      "(FP16, 128, 64, 64, 4): fast+load_0_0_0_tiles",
      {"unknown flag 'fast'", "position 25", "async, eager, swizzled, load_", "opt_softmax"});
  expect_bad("(FP16, 128, 64, 64, 4): async+async+load_0_0_0_tiles",
             {"the flag 'async' appears twice", "position 31"});
  expect_bad("(FP16, 128, 64, 64, 4): load_0_0_0_tiles+load_0_2_2_tiles", {"appears twice"});
  expect_bad("(FP16, 128, 64, 64, 4): async", {"load_", "is missing"});
  expect_bad("(FP16, 128, 64, 64, 4):", {"is missing"});
  expect_bad("(FP16, 128, 64, 64, 4): async+", {"expected a flag", "it ends there"});
  expect_bad("(FP16, 128, 64, 64, 4): async load_0_0_0_tiles", {"is missing"});
  expect_bad("(FP16, 128, 64, 64, 4): load_0_0_tiles", {"unknown flag 'load_0_0_tiles'"});
  expect_bad("(FP16, 128, 64, 64, 4): load_0_0_99999999999999999999_tiles",
             {"99999999999999999999' is not a value of V_mma_load_K_tiles"});
  expect_bad("(FP16, 128, 64, 64, 4): ASYNC+load_0_0_0_tiles", {"unknown flag 'ASYNC'"});
}

TEST(ShortForm, AFrameMustClose) {
  expect_bad("|(FP16, 128, 64, 64, 4): load_0_0_0_tiles", {"expected '|'"});
  expect_bad("(FP16, 128, 64, 64, 4): load_0_0_0_tiles|", {"expected the end"});
  expect_bad("|(FP16, 128, 64, 64, 4): load_0_0_0_tiles | x", {"expected the end"});
}

TEST(ShortForm, HostileTextIsQuotedHarmlessly) {
  expect_bad(std::string("\x1b[31m\0\xff", 7), {"'\uFFFD[31m\uFFFD"});
  expect_bad(std::string(100000, '('), {"longer than 4096 characters"});
  expect_bad("(" + std::string(4000, 'a'), {"..."});
}

TEST(ShortForm, UsageShowsTheGrammar) {
  EXPECT_EQ(short_form_usage(flash()),
            "\"(dtype, d_head, B_r, B_c, n_warps): async+eager+swizzled+load_{Q_mma_load_K_tiles}_"
            "{K_mma_load_K_tiles}_{V_mma_load_K_tiles}_tiles+buffer+opt_softmax\", for example "
            "\"(FP16, 64, 64, 32, 4): load_0_0_0_tiles\"");
}

TEST(ShortForm, TheExampleInTheUsageIsRight) {
  const std::string usage = short_form_usage(flash());
  const std::string mark = "for example \"";
  const std::size_t begin = usage.find(mark) + mark.size();
  const std::string example = usage.substr(begin, usage.rfind('"') - begin);
  EXPECT_FALSE(check_valid(flash(), parse_short_form(flash(), example))) << example;
}

}  // namespace
}  // namespace fatune
