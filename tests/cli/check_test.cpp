// Tests `fatune check` with the fake driver, which runs kernels.
#include <algorithm>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CheckCommand : public ProgramTest {
 protected:
  CheckCommand() { use_fake_gpu(); }

  static std::vector<std::string> small_check(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"check",   "--seq", "64",       "--batch", "1",
                                       "--heads", "1",     "--config", kConfig,   "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(CheckCommand, SaysOfEveryInputAndSeedHowFarItIsFromItsLimit) {
  const ProcessResult result = fatune(small_check({"--seeds", "2", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "check");
  const json checks = json::parse(result.out)["checks"];
  ASSERT_EQ(checks.size(), 10U) << "five inputs, two seeds";
  EXPECT_EQ(checks[0]["problem"], "b1 s64 h1 d128 FP16");
  EXPECT_EQ(checks[0]["seed"], 1);
  EXPECT_EQ(checks[9]["seed"], 2);
  for (const json& check : checks) {
    EXPECT_EQ(check["outcome"], "right");
    EXPECT_GT(check["elements"], 0);
    EXPECT_GT(check["max_abs_error"], 0.0) << "outputs are rounded to 16 bits";
    EXPECT_LT(check["max_abs_error"], check["limit"]);
  }
}

/// The problems of a report, each once.
std::vector<std::string> problems_of(const json& report) {
  std::vector<std::string> problems;
  for (const json& check : report["checks"]) {
    const std::string problem = check["problem"];
    if (problems.empty() || problems.back() != problem) {
      problems.push_back(problem);
    }
  }
  return problems;
}

TEST_F(CheckCommand, BothSizesAreThoseOfItsDocumentation) {
  use_gpu_that_never_runs_kernels();
  const json small =
      fatune_json({"check", "--small", "--config", kConfig, "-q", "--format", "json"});
  EXPECT_EQ(problems_of(small),
            (std::vector<std::string>{"b1 s512 h1 d128 FP16", "b1 s101 h2 d128 FP16",
                                      "b1 s101 h2 d128 FP16 causal"}));
  process_.environment["FATUNE_FAKE_MEMORY_MIB"] = "8192";
  const json report =
      fatune_json({"check", "--config", kConfig, "--heads", "2", "-q", "--format", "json"});
  EXPECT_EQ(problems_of(report).front(), "b16 s2048 h2 d128 FP16");
}

TEST_F(CheckCommand, ATableHasOneLineForEachAndCounts) {
  const ProcessResult result = fatune(small_check());
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("all 1 right"));
}

TEST_F(CheckCommand, WhatIsWrongIsNamedAndFails) {
  process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
  process_.environment["FATUNE_FAKE_WORKER"] =
      json{{"wrong", {{"opt_softmax", "greatest error 3"}}}}.dump();
  const ProcessResult result = fatune(small_check());
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 of 1 WRONG"));
  EXPECT_THAT(result.out, HasSubstr("greatest error 3"));
}

TEST_F(CheckCommand, ACrashIsNamedAndFails) {
  process_.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@name:flash";
  const ProcessResult result = fatune(small_check());
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(CheckCommand, WhatWasNeverComparedIsNotRight) {
  process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;  // admits without a comparison
  const ProcessResult result = fatune(small_check());
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("no input was compared"));
}

TEST_F(CheckCommand, DiffSaysWhichRowsAreWrong) {
  const ProcessResult result = fatune(small_check({"--diff", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "check");
  const json report = json::parse(result.out);
  for (const json& check : report["checks"]) {
    const std::string input = check["input"];
    EXPECT_EQ(check["rows"]["compared"], 64) << input;
    EXPECT_EQ(check["rows"]["beyond_limit"], 0);
  }
  EXPECT_THAT(fatune(small_check({"--diff"})).out, HasSubstr("0 of 64 rows beyond the limit"));
  EXPECT_THAT(fatune(small_check({"--diff", "--format", "csv"})).out,
              testing::StartsWith("problem,config,seed,input,batch,head,row,mismatched,"));
}

TEST_F(CheckCommand, WithoutDiffNoRowsAreCounted) {
  const json report = fatune_json(small_check({"--format", "json"}));
  EXPECT_TRUE(report["checks"][0]["rows"].is_null());
}

class SanitizedCheck : public CheckCommand {
 protected:
  SanitizedCheck() {
    use_gpu_that_never_runs_kernels();
    process_.environment["FATUNE_COMPUTE_SANITIZER"] =
        FATUNE_SOURCE_DIR "/tests/fake_sanitizer/compute-sanitizer";
    process_.environment["FATUNE_FAKE_SANITIZER_CALLS"] = path("calls");
  }
  void tool_says(const std::string& log) {
    process_.environment["FATUNE_FAKE_SANITIZER_LOG"] = log;
  }
  json last_check(const std::vector<std::string>& arguments, ExitCode expected) {
    const ProcessResult result = fatune(arguments);
    EXPECT_EQ(result.exit_code, static_cast<int>(expected)) << result.err;
    expect_schema(result.out, "check");
    return json::parse(result.out)["checks"].back();
  }

  static inline const std::string kNothing =
      "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
};

TEST_F(SanitizedCheck, EachConfigurationRunsUnderEachTool) {
  tool_says(kNothing);
  const json check = last_check(small_check({"--sanitizer", "memcheck,initcheck", "--sanitizer",
                                             "memcheck", "--format", "json"}),
                                ExitCode::ok);
  EXPECT_EQ(check["tool"], "initcheck");
  EXPECT_EQ(check["outcome"], "right");
  const std::string calls = read("calls");
  EXPECT_THAT(calls, HasSubstr("--tool memcheck"));
  EXPECT_THAT(calls, HasSubstr("kns=flash_forward_kernel"));
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 2);
}

TEST_F(SanitizedCheck, AFindingIsReportedWithItsPlace) {
  tool_says(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Race reported between Write access at flash+0x90 in flash.cu:13\n"
      "=========     and Read access at flash+0xa0 in flash.cu:14 [2048 hazards]\n"
      "=========\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n");
  const json check = last_check(small_check({"--sanitizer", "racecheck", "--format", "json"}),
                                ExitCode::failed_outcomes);
  EXPECT_EQ(check["outcome"], "flagged");
  EXPECT_THAT(std::string(check["detail"]), HasSubstr("racecheck: Race reported between Write"));
  EXPECT_EQ(check["findings"][0]["kind"], "race");
  EXPECT_EQ(check["findings"][0]["count"], 2048);
}

TEST_F(SanitizedCheck, AToolThatDoesNotComeToItsEndProvesNothing) {
  for (const char* log : {"", "========= COMPUTE-SANITIZER\n"}) {
    tool_says(log);
    const json check = last_check(small_check({"--sanitizer", "synccheck", "--format", "json"}),
                                  ExitCode::failed_outcomes);
    EXPECT_EQ(check["outcome"], "not_verified");
    EXPECT_THAT(std::string(check["detail"]), HasSubstr("ends before its summary"));
  }
}

TEST_F(SanitizedCheck, AMissingOrUnknownToolIsNamed) {
  process_.environment["FATUNE_COMPUTE_SANITIZER"] = "/no/such/tool";
  expect_error(fatune(small_check({"--sanitizer", "all"})), ExitCode::bad_file, {"/no/such/tool"});
  expect_error(fatune(small_check({"--sanitizer", "leakcheck"})), ExitCode::usage,
               {"'leakcheck'", "racecheck"});
}

TEST_F(SanitizedCheck, NeedsAGpu) {
  expect_error(fatune(small_check({"--sanitizer", "all", "--device", "none"})), ExitCode::no_gpu,
               {"a GPU is required"});
}

class CheckOfWhatDoesNotCompile : public ProgramTest {};

TEST_F(CheckOfWhatDoesNotCompile, SaysSo) {
  const std::string toy = toy_family_with("this is no statement;");
  const std::vector<std::string> check{"check", "--kernel-dir", toy, "--seq", "64", "--batch", "1"};
  for (const bool with_gpu : {false, true}) {
    if (with_gpu) {
      use_fake_gpu();
    }
    std::vector<std::string> as_json = check;
    as_json.insert(as_json.end(), {"--format", "json"});
    const json checks = fatune_json(as_json, ExitCode::failed_outcomes)["checks"];
    ASSERT_FALSE(checks.empty());
    for (const json& one : checks) {
      EXPECT_EQ(one["outcome"], "compile_failed");
      EXPECT_THAT(std::string(one["detail"]), HasSubstr("error"));
    }
    const ProcessResult result = fatune(check);
    EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes));
    EXPECT_THAT(result.out, HasSubstr("DID NOT COMPILE"));
    EXPECT_THAT(result.out, testing::Not(HasSubstr("WRONG")));
  }
}

}  // namespace
}  // namespace fatune::testing_cli
