// Tests command lines that cannot be understood: each error names what is wrong and what would be
// right.
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

class Arguments : public ProgramTest {};

TEST_F(Arguments, UnknownCommandSuggestsTheClosest) {
  expect_error(fatune({"swep"}), ExitCode::usage, {"no command 'swep'", "did you mean 'sweep'?"});
  expect_error(fatune({"dev"}), ExitCode::usage, {"did you mean 'devices'?"});
  expect_error(fatune({"frobnicate"}), ExitCode::usage,
               {"the commands are sweep, run, verify-winner, cases, check, debug, emulate"});
}

TEST_F(Arguments, UnknownOptionNamesTheHelp) {
  expect_error(fatune({"sweep", "--sequence", "5"}), ExitCode::usage,
               {"--sequence", "see 'fatune sweep --help'"});
  expect_error(fatune({"--bogus"}), ExitCode::usage, {"--bogus", "see 'fatune --help'"});
}

TEST_F(Arguments, UnknownOptionSuggestsTheClosestOfItsCommand) {
  expect_error(fatune({"sweep", "--sqe", "512"}), ExitCode::usage,
               {"--sqe", "did you mean '--seq'?", "see 'fatune sweep --help'"});
  expect_error(fatune({"sweep", "--dtpye=fp16"}), ExitCode::usage, {"did you mean '--dtype'?"});
  expect_error(fatune({"sass", "diff", "a.cubin", "b.cubin", "--listings"}), ExitCode::usage,
               {"did you mean '--listing'?", "see 'fatune sass diff --help'"});
  expect_error(fatune({"--versoin"}), ExitCode::usage, {"did you mean '--version'?"});
  const ProcessResult far = fatune({"list", "--frobnicate"});
  EXPECT_THAT(far.err, testing::Not(testing::HasSubstr("did you mean")));
}

TEST_F(Arguments, ListsTakePositiveIntegersOnly) {
  for (const char* option : {"--seq", "--dhead"}) {
    for (const char* bad : {"0", "-5", "12x", "x", "1.5", "0x10", "1e3", "99999999999999999999",
                            "512,0", "512,-1", "+5"}) {
      expect_error(fatune({"sweep", option, bad}), ExitCode::usage,
                   {option, "give an integer from 1 to"});
    }
    for (const char* bad : {"", ",", "512,", ",512", "512,,1024", " "}) {
      expect_error(fatune({"sweep", option, bad}), ExitCode::usage,
                   {option, "positive integers, as in 512,1024"});
    }
  }
}

TEST_F(Arguments, CountsHaveTheirRange) {
  for (const char* option : {"--batch", "--heads", "--repeats", "--jobs"}) {
    for (const char* bad : {"0", "-1", "many", "", "3.0", "18446744073709551617"}) {
      expect_error(fatune({"sweep", option, bad}), ExitCode::usage, {option, "from 1 to"});
    }
  }
  expect_error(fatune({"sweep", "--warmup", "-1"}), ExitCode::usage, {"--warmup", "from 0 to"});
  expect_error(fatune({"run", "--config", kConfig, "--runs", "0"}), ExitCode::usage, {"--runs"});
}

TEST_F(Arguments, AnEmptyNameIsNoPath) {
  const std::vector<std::vector<std::string>> lines{
      {"sweep", "--out"},   {"sweep", "--best"},      {"sweep", "--against"},
      {"sweep", "--db"},    {"sweep", "--cache-dir"}, {"list", "--kernel-dir"},
      {"compile", "--out"}, {"profile", "--out"},     {"profile", "--script"},
      {"sass", "--cubin"},  {"profile", "--import"},  {"debug", "--config", kConfig, "--out"},
      {"verify-winner"}};
  for (std::vector<std::string> line : lines) {
    const std::string option = line.size() == 1 ? "RUN" : line.back();
    line.emplace_back();
    expect_error(fatune(line), ExitCode::usage, {option, "an empty name is neither a file"});
  }
}

TEST_F(Arguments, DTypesAreNamed) {
  for (const char* bad : {"fp32", "16", "fp16,float", "", "fp16,,bf16"}) {
    expect_error(fatune({"sweep", "--dtype", bad}), ExitCode::usage, {"bf16"});
  }
}

TEST_F(Arguments, ArchitecturesAreNamed) {
  expect_error(fatune({"compile", "--arch", "volta"}), ExitCode::usage,
               {"'volta' is not a GPU architecture", "sm_90a"});
  expect_error(fatune({"compile", "--arch", "sm_75"}), ExitCode::usage,
               {"older than sm_80", "compute capability 8.0"});
  expect_error(fatune({"compile", "--arch", "sm_99"}), ExitCode::usage, {"sm_99"});
}

TEST_F(Arguments, FormatIsOneOfFour) {
  expect_error(fatune({"list", "--format", "xml"}), ExitCode::usage, {"--format", "xml"});
}

TEST_F(Arguments, QuietAndVerboseExcludeEachOther) {
  expect_error(fatune({"list", "-q", "-v"}), ExitCode::usage, {"--quiet"});
}

TEST_F(Arguments, UnknownSpaceListsThoseThereAre) {
  for (const char* bad : {"tunes", "64,33", "", "64,32,16", "none"}) {
    expect_error(fatune({"list", "--space", bad}), ExitCode::usage,
                 {"tune", "prog", "progall", "all", "64,32"});
  }
}

TEST_F(Arguments, TheKernelsVariableIsReadLikeTheOption) {
  process_.environment["KERNELS"] = "nonsense";
  expect_error(fatune({"list"}), ExitCode::usage, {"nonsense", "progall"});
  EXPECT_EQ(fatune_json({"list", "--space", "prog", "--format", "json"})["kept"].size(), 7U);
}

TEST_F(Arguments, AConfigurationThatDoesNotParseIsQuoted) {
  for (const char* bad : {"", "garbage", "(FP16, 128, 64, 64", "(FP16, 128, 64, 64, 4): turbo",
                          "(FP8, 128, 64, 64, 4): async+load_0_2_2_tiles",
                          "(FP16, 128, 64, 64, 4): async+async+load_0_2_2_tiles",
                          "flash_forward_kernel<FlashForwardKernelConfig{5, 128}>"}) {
    const ProcessResult result = fatune({"run", "--config", bad, "--seq", "128"});
    expect_error(result, ExitCode::usage, {});
  }
  expect_error(fatune({"run", "--config", "(FP16, 128, 64, 64, 4): turbo", "--seq", "128"}),
               ExitCode::usage, {"turbo", "swizzled"});
}

TEST_F(Arguments, AConfigurationThatDoesNotParseShowsAnExampleOfOne) {
  const ProcessResult result = fatune({"compile", "--config", "(FP16, 128): async"});
  expect_error(result, ExitCode::usage, {"for example \"(FP16, "});
  const std::string mark = "for example \"";
  const std::size_t begin = result.err.find(mark) + mark.size();
  const std::string example = result.err.substr(begin, result.err.find('"', begin) - begin);
  expect_ok(fatune({"compile", "--config", example}));
}

TEST_F(Arguments, ASpaceWhoseValuesTheFamilyDoesNotKnowIsNotBlamedOnTheRules) {
  for (const char* command : {"sweep", "compile", "emulate"}) {
    const ProcessResult result = fatune({command, "--space", "prog", "--dhead", "80"});
    expect_error(result, ExitCode::nothing_ranked,
                 {"flash_sm80 can build no configuration of space prog",
                  "d_head is 80; flash_sm80 understands 64, 96, 128, 256"});
    EXPECT_THAT(result.err, testing::Not(testing::HasSubstr("rules")));
  }
}

TEST_F(Arguments, ATypeThatTheFamilyDoesNotKnowIsNamedAsUsersNameIt) {
  const std::string cheats = FATUNE_SOURCE_DIR "/tests/families/cheats";
  const std::string reason = "dtype is BF16; cheats understands FP16";
  expect_error(fatune({"sweep", "--kernel-dir", cheats, "--dtype", "bf16"}),
               ExitCode::nothing_ranked, {reason});
  EXPECT_THAT(fatune({"list", "--kernel-dir", cheats, "--dtype", "bf16"}).out,
              testing::HasSubstr("invalid: " + reason));
}

TEST_F(Arguments, AConfigurationThatCannotBeBuiltNamesTheRule) {
  expect_error(
      fatune({"run", "--seq", "128", "--config", "(FP16,128,64,64,8): async+load_0_2_2_tiles"}),
      ExitCode::usage, {"cannot build", "eight-warps-need-128-rows", "8 warps need B_r"});
  expect_error(fatune({"compile", "--config", "(FP16,128,64,64,4): async+load_0_3_2_tiles"}),
               ExitCode::usage, {"cannot build", "K_mma_load_K_tiles"});
}

TEST_F(Arguments, DataAndConfigurationMustAgree) {
  for (const char* command : {"run", "compile", "emulate", "check", "profile", "sass"}) {
    expect_error(fatune({command, "--config", kConfig, "--dtype", "bf16"}), ExitCode::usage,
                 {"--dtype", "differ", "FP16"});
    expect_error(fatune({command, "--config", kConfig, "--dhead", "64"}), ExitCode::usage,
                 {"--dhead", "differ", "d_head 128"});
  }
  expect_error(fatune({"sass", "map", "--config", kConfig, "--dhead", "64"}), ExitCode::usage,
               {"--dhead", "differ", "d_head 128"});
  expect_error(fatune({"sass", "diff", kConfig, kConfig, "--dhead", "64"}), ExitCode::usage,
               {"--dhead", "differ", "d_head 128"});
}

TEST_F(Arguments, AHeadDimensionTheKernelLacksLeavesNothingToDo) {
  expect_error(fatune({"sweep", "--dhead", "40"}), ExitCode::nothing_ranked,
               {"can build no configuration of space tune", "understands 64, 96, 128, 256"});
}

TEST_F(Arguments, RunNeedsAConfiguration) {
  expect_error(fatune({"run", "--seq", "128"}), ExitCode::usage, {"--config"});
}

TEST_F(Arguments, CompileTakesOneLengthAndASpaceOrConfigurations) {
  expect_error(fatune({"compile", "--seq", "512,1024"}), ExitCode::usage, {"one sequence length"});
  expect_error(fatune({"compile", "--space", "prog", "--config", kConfig}), ExitCode::usage,
               {"--config", "--space"});
  expect_error(fatune({"compile", "--ptx"}), ExitCode::usage, {"--out"});
}

TEST_F(Arguments, UnknownFamilyListsThoseThereAre) {
  expect_error(fatune({"list", "--family", "flash_sm75"}), ExitCode::usage,
               {"flash_sm75", "flash_sm80"});
}

TEST_F(Arguments, ABaselineMustBePlanned) {
  const std::string other = "(FP16, 128, 64, 32, 4): async+load_2_2_2_tiles";
  expect_error(fatune({"run", "--config", kConfig, "--baseline", other}), ExitCode::usage,
               {"--baseline", "is not among the planned configurations", "--config too"});
  expect_error(fatune({"sweep", "--dtype", "bf16", "--baseline", kConfig}), ExitCode::usage,
               {"--baseline", "is not among the planned configurations", "list --pruned"});
  expect_error(fatune({"profile", "--config", kConfig, "--baseline",
                       "(FP16, 64, 64, 32, 4): async+load_2_2_2_tiles"}),
               ExitCode::usage, {"--baseline", "for none of the problems"});
}

TEST_F(Arguments, ABaselineMustParse) {
  expect_error(fatune({"sweep", "--baseline", "best"}), ExitCode::usage, {"best"});
}

}  // namespace
}  // namespace fatune::testing_cli
