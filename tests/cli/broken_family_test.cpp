// Tests flash_sm80 with mistakes, as far as possible without a GPU. tests/gpu/broken_check.py runs
// them on one.
#include <algorithm>
#include <array>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class BrokenFamily : public ProgramTest {
 protected:
  static inline const std::string kFolder = FATUNE_SOURCE_DIR "/tests/families/broken_flash";
};

TEST_F(BrokenFamily, CompilesFromTheSourcesOfTheRightOne) {
  const json report =
      fatune_json({"compile", "--kernel-dir", kFolder, "--space", "one_each", "--arch", "sm_80",
                   "--seq", "500", "--causal", "--format", "json"});
  EXPECT_EQ(report["configs"].size(), 7U);
  for (const json& row : report["configs"]) {
    EXPECT_EQ(row["status"], "compiled") << row;
  }
}

TEST_F(BrokenFamily, HoldsEveryMistakeInThreeKernels) {
  const json list = fatune_json({"list", "--kernel-dir", kFolder, "--format", "json"});
  EXPECT_EQ(list["kept"].size(), 21U);
}

/// Checks the text about a mistake in the log-sum-exp.
void expect_lse(const json& row) {
  struct Said {
    const char* fault;
    const char* outcome;
    const char* detail;
  };
  constexpr std::array<Said, 5> kSaid{{
      {"none", "right", ""},
      {"lse_base_2", "wrong_result", "lse: greatest error"},
      {"lse_without_maximum", "wrong_result", "lse: greatest error"},
      {"lse_not_written", "wrong_result", "lse: 154 output values are NaN, infinite or were never"},
      {"lse_past_end", "flagged", "4 bytes at 0 bytes after the end of lse"},
  }};
  const auto config = row["config"].get<std::string>();
  const auto* const said = std::find_if(kSaid.begin(), kSaid.end(), [&](const Said& one) {
    return config.find(std::string(one.fault) + ")") != std::string::npos;
  });
  ASSERT_NE(said, kSaid.end()) << config;
  EXPECT_EQ(row["outcome"], said->outcome) << row.dump(2);
  EXPECT_THAT(row["detail"].is_null() ? "" : row["detail"].get<std::string>(),
              HasSubstr(said->detail));
}

TEST_F(BrokenFamily, WrongLogSumExpsAreFoundInTheEmulator) {
  const json report =
      fatune_json({"emulate", "--kernel-dir", kFolder, "--space", "lse", "--lse", "--seq", "77",
                   "--batch", "1", "--heads", "2", "--causal", "--format", "json"},
                  ExitCode::failed_outcomes);
  ASSERT_EQ(report["configs"].size(), 10U);
  for (const json& row : report["configs"]) {
    expect_lse(row);
  }
}

TEST_F(BrokenFamily, CheckSaysWhichOutputIsWrong) {
  const json report =
      fatune_json({"check", "--kernel-dir", kFolder, "--lse", "--config",
                   "(FP16, 64, 64, 32, lse_base_2): async", "--seq", "64", "--format", "json"},
                  ExitCode::failed_outcomes);
  for (const json& row : report["checks"]) {
    const bool of_lse = row["output"] == "lse";
    EXPECT_EQ(row["outcome"], of_lse ? "wrong_result" : "right") << row.dump(2);
  }
}

TEST_F(BrokenFamily, MistakesInTheLogSumExpNeedOne) {
  const json list = fatune_json({"run", "--kernel-dir", kFolder, "--config",
                                 "(FP16, 64, 64, 32, lse_base_2): async", "--format", "json"},
                                ExitCode::nothing_ranked);
  EXPECT_THAT(list.dump(), HasSubstr("which the problem does not want (--lse)"));
}

}  // namespace
}  // namespace fatune::testing_cli
