// Tests that commands which verify kernels try ragged and causal problems too, if no length is
// named.
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class DefaultProblems : public ProgramTest {
 protected:
  static inline const std::string kOffByOne = FATUNE_SOURCE_DIR "/tests/families/off_by_one";
  static inline const std::string kOffByOneConfig = "(FP16, 32, 64, 32)";
  /// The emulator runs it in a moment.
  static inline const std::string kRight = "(FP16, 64, 64, 32, none): async+eager+opt_softmax";
  static inline const std::string kBroken = FATUNE_SOURCE_DIR "/tests/families/broken_flash";

  /// Writes a variant of the broken family that takes only the problems for which the rule holds.
  std::string family_with_rule(const std::string& must_hold) {
    std::filesystem::copy(kBroken, path("broken_flash"), std::filesystem::copy_options::recursive);
    json family = json::parse(read("broken_flash/family.json"));
    family["validity"].push_back({{"id", "some"}, {"must_hold", must_hold}, {"reason", "only"}});
    write("broken_flash/family.json", family.dump());
    return path("broken_flash");
  }
  std::vector<std::string> emulated_problems(const std::string& folder,
                                             const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"emulate",  "--kernel-dir", folder,     "--config", kRight,
                                       "--timing", "late",         "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<std::string> problems;
    const json report = fatune_json(arguments);
    for (const json& row : report["configs"]) {
      EXPECT_EQ(row["outcome"], "right");
      problems.push_back(row["problem"]);
    }
    return problems;
  }
};

using Problems = std::vector<std::string>;

TEST_F(DefaultProblems, AKeyTooManyAtTheEndOfARaggedLengthIsFound) {
  const std::vector<std::string> of{"--kernel-dir", kOffByOne, "--config", kOffByOneConfig};
  for (const std::vector<std::string>& command : {std::vector<std::string>{"emulate"},
                                                  {"check", "--device", "none"},
                                                  {"debug", "--device", "none"}}) {
    SCOPED_TRACE(command.front());
    std::vector<std::string> whole = command;
    whole.insert(whole.end(), of.begin(), of.end());
    std::vector<std::string> named = whole;
    named.insert(named.end(), {"--seq", "128"});
    expect_ok(fatune(named));
    const ProcessResult result = fatune(whole);
    EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
    EXPECT_THAT(result.out, HasSubstr("s101"));
  }
}

TEST_F(DefaultProblems, DebugNamesTheProblemsOnWhichAllIsRight) {
  const json report = fatune_json({"debug", "--kernel-dir", kOffByOne, "--config", kOffByOneConfig,
                                   "--device", "none", "--format", "json"},
                                  ExitCode::failed_outcomes);
  EXPECT_EQ(report["problem"]["seq_len"], 101);
  EXPECT_EQ(report["also_right"], (json{"b1 s256 h1 d32 FP16"}));
  EXPECT_EQ(report["likely_cause"], "") << "the family shows no steps";
}

TEST_F(DefaultProblems, TheyAreThoseThatTheFamilyCanDo) {
  EXPECT_EQ(emulated_problems(kBroken),
            (Problems{"b1 s256 h2 d64 FP16", "b1 s101 h2 d64 FP16", "b1 s101 h2 d64 FP16 causal"}));
  EXPECT_EQ(emulated_problems(family_with_rule("seq_len % 64 == 0")),
            (Problems{"b1 s256 h2 d64 FP16", "b1 s256 h2 d64 FP16 causal"}));
}

TEST_F(DefaultProblems, AFamilyThatIsAlwaysCausalIsTriedOnCausalOnesAlone) {
  EXPECT_EQ(emulated_problems(family_with_rule("causal")),
            (Problems{"b1 s101 h2 d64 FP16 causal"}));
}

TEST_F(DefaultProblems, NamedLengthsAndMasksAreTaken) {
  EXPECT_EQ(emulated_problems(kBroken, {"--causal"}),
            (Problems{"b1 s256 h2 d64 FP16 causal", "b1 s101 h2 d64 FP16 causal"}));
  EXPECT_EQ(emulated_problems(kBroken, {"--seq", "64"}), (Problems{"b1 s64 h2 d64 FP16"}));
  EXPECT_EQ(emulated_problems(kBroken, {"--profile"}), (Problems{"b1 s256 h2 d64 FP16"}));
}

TEST_F(DefaultProblems, AFamilyThatCanDoNoneSaysWhy) {
  const json report = fatune_json({"emulate", "--kernel-dir", family_with_rule("seq_len == 7"),
                                   "--config", kRight, "--format", "json"},
                                  ExitCode::nothing_ranked);
  ASSERT_EQ(report["configs"].size(), 1U);
  EXPECT_EQ(report["configs"][0]["outcome"], "invalid");
}

}  // namespace
}  // namespace fatune::testing_cli
