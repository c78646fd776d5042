#include "plan/reason.hpp"

#include <gtest/gtest.h>

#include "plan/scope.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

std::string render(const std::string& text) {
  const Family& family = fixtures::flash();
  const Config config = fixtures::flash_config("(BF16, 128, 64, 32, 4): async+load_0_2_2_tiles");
  const Problem problem{16, 1000, 16, 128, DType::bf16};
  return Reason(text, family.symbols, "f.json: /r")
      .render(make_scope(family, config, &problem, &fixtures::h200()), family.parameters);
}

TEST(Reason, PutsValuesInAsUsersWriteThem) {
  EXPECT_EQ(render("plain"), "plain");
  EXPECT_EQ(render("{dtype} {B_r} {async_copy} {swizzled}"), "BF16 64 true false");
  EXPECT_EQ(render("needs {smem_bytes} bytes of {smem_per_sm_bytes}"),
            "needs 32768 bytes of 233472");
  EXPECT_EQ(render("{kv_steps}|{q_blocks}"), "512|16");
}

TEST(Reason, ComputesExpressionsInBraces) {
  EXPECT_EQ(render("saves {B_c - 8} keys"), "saves 24 keys");
  EXPECT_EQ(render("{seq_len / 3}|{max(B_r, B_c)}|{2^31}"), "333.3|64|2147483648");
  fixtures::expect_error([] { (void)render("a {B_r -}"); }, ExitCode::bad_file, {"f.json: /r"});
}

TEST(Reason, ItsTextForProgramsNamesWhatItShows) {
  const SymbolTable& symbols = fixtures::flash().symbols;
  EXPECT_EQ(Reason("a {B_r} of {B_c * 2}", symbols, "f.json: /r").text(), "a B_r of B_c * 2");
}

TEST(Reason, RefusesUnknownNamesAndOpenBraces) {
  fixtures::expect_error([] { (void)render("a {b_r}"); }, ExitCode::bad_file,
                         {"f.json: /r", "unknown name 'b_r'", "B_r"});
  fixtures::expect_error([] { (void)render("a {B_r"); }, ExitCode::bad_file, {"no '}'"});
  fixtures::expect_error(
      [] { Reason("{seq_len}", fixtures::flash().symbols, "f.json: /r", Needs{}); },
      ExitCode::bad_file, {"cannot use the name 'seq_len'"});
}

}  // namespace
}  // namespace fatune
