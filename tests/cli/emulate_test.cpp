// Tests kernels on the CPU: right ones are reported as right, and each mistake of
// tests/families/broken_flash is found.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Emulate : public ProgramTest {
 protected:
  static inline const std::string kBroken = FATUNE_SOURCE_DIR "/tests/families/broken_flash";

  json emulate(std::vector<std::string> arguments, ExitCode expected = ExitCode::ok) {
    arguments.insert(arguments.begin(), {"emulate", "--format", "json"});
    return fatune_json(arguments, expected);
  }

  /// Emulates broken_flash with one mistake, on a small problem.
  json broken(const std::string& fault, ExitCode expected,
              const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{
        "--kernel-dir", kBroken,    "--seq",
        "128",          "--config", "(FP16, 64, 64, 32, " + fault + "): async+eager+opt_softmax"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return emulate(arguments, expected)["configs"][0];
  }
};

bool has_finding(const json& config, const std::string& kind) {
  return std::any_of(config["findings"].begin(), config["findings"].end(),
                     [&](const json& finding) { return finding["kind"] == kind; });
}

const json& opcode(const json& config, const std::string& name) {
  for (const json& part : config["opcodes"]) {
    if (part["what"].get<std::string>().starts_with(name)) {
      return part;
    }
  }
  throw std::out_of_range(name);
}

TEST_F(Emulate, ARightKernelIsRightAndSaysThatNothingWasTimed) {
  const ProcessResult result =
      fatune({"emulate", "--kernel-dir", kBroken, "--seq", "100", "--causal", "--config",
              "(FP16, 64, 64, 32, none): async+eager+opt_softmax"});
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr("EMULATED on the CPU, not timed"),
                                HasSubstr("schedules late, random 2"), HasSubstr("all 1 right")));
}

TEST_F(Emulate, WarpsLagInTurnFromTheSeedOn) {
  const ProcessResult result =
      fatune({"emulate", "--kernel-dir", kBroken, "--seq", "64", "--timing", "lagging", "--seed",
              "3", "--config", "(FP16, 64, 64, 32, none): async+eager+opt_softmax"});
  expect_ok(result);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("schedules lagging 3, lagging 4"), HasSubstr("all 1 right")));
}

TEST_F(Emulate, AMissingBarrierIsARaceAtItsSourceLine) {
  const json config = broken("missing_barrier", ExitCode::failed_outcomes);
  EXPECT_EQ(config["outcome"], "flagged");
  ASSERT_TRUE(has_finding(config, "race")) << config;
  const json& finding = config["findings"][0];
  EXPECT_GT(finding["ptx_line"].get<int>(), 0);
  EXPECT_THAT(finding["source"].get<std::string>(), HasSubstr("flash_sm80/"));
}

/// Checks the kind, place and thread of one access of a race.
void expect_end(const json& end) {
  EXPECT_THAT(end["access"].get<std::string>(), ContainsRegex("^(asynchronous )?(read|write)$"));
  EXPECT_THAT(end["source"].get<std::string>(), HasSubstr("broken_flash/broken_flash.cu:"));
  EXPECT_GT(end["ptx_line"].get<int>(), 0);
  EXPECT_TRUE(end["block"].is_number() && end["thread"].is_number()) << end;
}

TEST_F(Emulate, RacesNameBothEnds) {
  for (const char* fault : {"missing_barrier", "missing_wait"}) {
    const json config = broken(fault, ExitCode::failed_outcomes);
    for (const json& finding : config["findings"]) {
      if (finding["check"] == "race") {
        expect_end(finding);
        expect_end(finding["other"]);
        EXPECT_THAT(finding["memory"].get<std::string>(), ContainsRegex("^s[QKV]")) << finding;
      }
    }
    const json& first = config["findings"][0];
    EXPECT_EQ(first["access"], "read");
    EXPECT_THAT(first["ptx"].get<std::string>(), HasSubstr("ldmatrix"));
    EXPECT_EQ(first["other"]["access"], "asynchronous write");
    EXPECT_THAT(first["other"]["ptx"].get<std::string>(), HasSubstr("cp.async"));
    EXPECT_THAT(first["other"]["source"].get<std::string>(), HasSubstr("flash_sm80/tile_copy.cuh"));
  }
}

// One missing barrier causes findings at more than a hundred instructions.
TEST_F(Emulate, FindingsAreGroupedToOnePlaceToLookAtFirst) {
  const json config = broken("missing_barrier", ExitCode::failed_outcomes);
  ASSERT_GT(config["findings"].size(), 100U);
  const json& groups = config["groups"];
  EXPECT_LT(groups.size(), 12U) << groups;
  EXPECT_EQ(config["findings"][0]["group"], 1);
  EXPECT_THAT(groups[0]["place"].get<std::string>(),
              ContainsRegex("^flash_sm80/flash_forward.cu:[0-9]+ and "
                            "flash_sm80/flash_forward.cu:[0-9]+$"));
  std::map<int, int> counted;
  for (const json& finding : config["findings"]) {
    ++counted[finding["group"].get<int>()];
  }
  for (const json& group : groups) {
    EXPECT_EQ(counted[group["group"].get<int>()], group["findings"]) << group;
  }
}

TEST_F(Emulate, TheTextLeadsWithOneFindingAndFoldsTheOthers) {
  const ProcessResult result =
      fatune({"emulate", "--kernel-dir", kBroken, "--seq", "128", "--config",
              "(FP16, 64, 64, 32, missing_barrier): async+eager+opt_softmax"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes));
  EXPECT_THAT(result.out,
              AllOf(ContainsRegex("[0-9]+ findings in [0-9]+ groups"),
                    HasSubstr("The one place to look at first: nothing orders what is done at"),
                    HasSubstr("\nrace: reads sQ or sO [row 1, col 0], which thread 8"),
                    HasSubstr("\n  read by thread 1 of block 0\n    at common/ptx_mma.cuh"),
                    HasSubstr("\n  asynchronous write by thread 8 of block 0, earlier in this run"),
                    HasSubstr("The others may follow from it")));
  EXPECT_THAT(result.out, Not(HasSubstr("race: race:")));
  EXPECT_EQ(result.out.find("PTX line 302"), result.out.rfind("PTX line 302"));
  EXPECT_LT(std::count(result.out.begin(), result.out.end(), '\n'), 45) << result.out;
}

TEST_F(Emulate, AMissingWaitIsFoundInFlight) {
  const json config = broken("missing_wait", ExitCode::failed_outcomes);
  EXPECT_EQ(config["outcome"], "flagged");
  EXPECT_TRUE(has_finding(config, "in_flight")) << config;
}

// Only V is transposed on its way to the registers.
TEST_F(Emulate, FindingsInSharedMemoryNameTensorAndCoordinates) {
  const json config = broken("missing_wait", ExitCode::failed_outcomes);
  std::map<std::string, int> named;
  for (const json& finding : config["findings"]) {
    const std::string text = finding["text"];
    if (finding["kind"] != "in_flight" || !text.starts_with("reads ")) {
      continue;
    }
    const std::string ptx = finding["ptx"];
    ASSERT_TRUE(ptx.starts_with("ldmatrix")) << finding;
    EXPECT_THAT(text, ContainsRegex("reads (sQ or sO|sK|sV) \\[row [0-9]+, col [0-9]+\\] while"));
    const std::string tensor = text.substr(6, 2);
    EXPECT_EQ(tensor == "sV", ptx.find(".trans") != std::string::npos) << finding;
    ++named[tensor];
  }
  EXPECT_EQ(named.size(), 3U) << config;
}

TEST_F(Emulate, WrongNumbersAreWrongResults) {
  for (const char* fault :
       {"wrong_mask", "missing_rescale", "output_not_rescaled", "swapped_v_panels"}) {
    const json config = broken(fault, ExitCode::failed_outcomes, {"--causal", "--schedules", "1"});
    EXPECT_EQ(config["outcome"], "wrong_result") << fault << config;
    EXPECT_EQ(config["findings_count"], 0) << fault;
  }
}

TEST_F(Emulate, AFamilyOfTheUserWorksUnchanged) {
  const json report = emulate({"--kernel-dir", kToyFolder, "--seq", "40"});
  EXPECT_FALSE(report["measured"].get<bool>());
  for (const json& config : report["configs"]) {
    EXPECT_EQ(config["outcome"], "right") << config;
  }
}

TEST_F(Emulate, KernelsThatMisbehaveAreFlaggedAndEndTheirRuns) {
  const std::string faulty = FATUNE_SOURCE_DIR "/tests/families/faulty";
  const json report =
      emulate({"--kernel-dir", faulty, "--seq", "32", "--config", "(FP16, 64, trap): turns_1",
               "--config", "(FP16, 64, near_read): turns_4"},
              ExitCode::failed_outcomes);
  EXPECT_TRUE(has_finding(report["configs"][0], "trap"));
  EXPECT_EQ(report["configs"][0]["runs"], 1);
  EXPECT_TRUE(has_finding(report["configs"][1], "out_of_bounds"));
  EXPECT_THAT(report["configs"][1]["findings"][0]["text"].get<std::string>(),
              HasSubstr("after the end of V"));
}

TEST_F(Emulate, SwizzlesRemoveTheBankConflictsOfLdmatrix) {
  const std::string plain = "(FP16,128,64,64,4):async+load_2_2_2_tiles";
  const std::string swizzled = "(FP16,128,64,64,4):async+swizzled+load_2_2_2_tiles";
  const json report = emulate(
      {"--profile", "--schedules", "1", "--seq", "64", "--config", swizzled, "--config", plain});
  const json& configs = report["configs"];
  EXPECT_EQ(configs[0]["conflict_percent"], 0.0);
  EXPECT_EQ(opcode(configs[0], "ldmatrix")["conflict_percent"], 0.0);
  // Rows of 256 bytes begin in one bank: eight rows need eight passes instead of one.
  EXPECT_EQ(opcode(configs[1], "ldmatrix")["conflict_percent"], 700.0);
  EXPECT_FALSE(configs[0]["lines"].empty());
}

/// A line of tests/recorded/emulate/ncu_counts_h200.csv: the counts of Nsight Compute.
struct RecordedCounts {
  std::string config;
  double wavefronts = 0;
  double sectors = 0;
};

std::vector<RecordedCounts> recorded_counts() {
  constexpr int kWavefrontColumns = 4;  // the columns of sectors follow
  std::ifstream file(FATUNE_SOURCE_DIR "/tests/recorded/emulate/ncu_counts_h200.csv");
  std::vector<RecordedCounts> all;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    std::istringstream fields(line);
    RecordedCounts counts;
    std::getline(fields, counts.config, ';');
    std::string number;
    for (int column = 0; std::getline(fields, number, ';'); ++column) {
      (column < kWavefrontColumns ? counts.wavefronts : counts.sectors) += std::stod(number);
    }
    all.push_back(counts);
  }
  return all;
}

/// One configuration differs by 1.1 %: Nsight Compute leaves out some copies. See docs/emulate.md.
TEST_F(Emulate, CountsAreThoseOfNsightCompute) {
  const std::vector<RecordedCounts> recorded = recorded_counts();
  ASSERT_EQ(recorded.size(), 6U);
  std::vector<std::string> arguments{"--profile", "--schedules", "1"};
  for (const RecordedCounts& counts : recorded) {
    arguments.insert(arguments.end(), {"--config", counts.config});
  }
  const json configs = emulate(arguments)["configs"];
  ASSERT_EQ(configs.size(), recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const double wavefronts = configs[i]["shared_wavefronts"];
    EXPECT_NEAR(wavefronts, recorded[i].wavefronts, 0.02 * wavefronts) << recorded[i].config;
    EXPECT_EQ(configs[i]["global_sectors"], recorded[i].sectors) << recorded[i].config;
  }
}

TEST_F(Emulate, OnlyChecksThatAreAskedForCount) {
  const json all = broken("missing_barrier", ExitCode::failed_outcomes);
  ASSERT_TRUE(has_finding(all, "race"));
  const json without =
      broken("missing_barrier", ExitCode::failed_outcomes, {"--check", "mem,init,sync"});
  EXPECT_EQ(without["outcome"], "wrong_result") << without;
  EXPECT_TRUE(without["findings"].empty());
  const json race = broken("missing_wait", ExitCode::failed_outcomes, {"--check", "race"});
  for (const json& finding : race["findings"]) {
    EXPECT_EQ(finding["check"], "race");
  }
  expect_error(fatune({"emulate", "--check", "mem,rice"}), ExitCode::usage,
               {"'rice' is not a check", "deadlock"});
}

TEST_F(Emulate, WhatEndsARunIsReportedWhateverIsAskedFor) {
  const std::string faulty = FATUNE_SOURCE_DIR "/tests/families/faulty";
  const json report = emulate({"--kernel-dir", faulty, "--seq", "32", "--check", "race", "--config",
                               "(FP16, 64, trap): turns_1"},
                              ExitCode::failed_outcomes);
  EXPECT_TRUE(has_finding(report["configs"][0], "trap"));
}

// Compilers leave reads of an uninitialised register only in inline PTX.
TEST_F(Emulate, ARegisterThatNothingWritesIsUninitialised) {
  const std::string folder = toy_family_with(
      "float forgotten; asm volatile(\"add.f32 %0, %0, 0f00000000;\" : \"+f\"(forgotten));");
  const json report =
      emulate({"--kernel-dir", folder, "--seq", "32", "--config", "(FP16, 64, 32): unroll_1"},
              ExitCode::failed_outcomes);
  const json& finding = report["configs"][0]["findings"][0];
  EXPECT_EQ(finding["kind"], "uninitialised") << report;
  EXPECT_EQ(finding["check"], "init");
  EXPECT_THAT(finding["text"].get<std::string>(), HasSubstr("which nothing before it writes"));
  EXPECT_TRUE(finding["thread"].is_null());
}

TEST_F(Emulate, AProfileShowsTheSourceWithCounts) {
  const std::vector<std::string> arguments{
      "emulate", "--kernel-dir", kBroken,    "--seq",
      "64",      "--profile",    "--config", "(FP16, 64, 64, 32, none): async+eager+opt_softmax"};
  const ProcessResult table = fatune(arguments);
  expect_ok(table);
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("== flash_sm80/softmax.cuh"), HasSubstr("__shfl_xor_sync")));
  std::vector<std::string> more = arguments;
  more.insert(more.end(), {"--format", "json"});
  const json config = fatune_json(more)["configs"][0];
  std::int64_t own = 0;
  for (const json& line : config["source"]) {
    own += line["thread_instructions"].get<std::int64_t>();
  }
  EXPECT_GT(own, config["thread_instructions"].get<std::int64_t>() / 2);
  EXPECT_LE(own, config["thread_instructions"].get<std::int64_t>());
}

TEST_F(Emulate, JsonFollowsItsSchema) {
  const ProcessResult result =
      fatune({"emulate", "--kernel-dir", kBroken, "--seq", "64", "--profile", "--format", "json",
              "--config", "(FP16, 64, 64, 32, missing_wait): async+eager+opt_softmax"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes));
  expect_schema(result.out, "emulate");
}

TEST_F(Emulate, WhatIsAskedForMustMakeSense) {
  expect_error(fatune({"emulate", "--timing", "never"}), ExitCode::usage,
               {"'never' is not a timing", "early, late, random or lagging"});
  expect_error(fatune({"emulate", "--seq", "5000"}), ExitCode::usage, {"--seq", "4096"});
}

}  // namespace
}  // namespace fatune::testing_cli
