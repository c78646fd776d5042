// Tests searches that try a part of a space.
#include "cli/program.hpp"

#include <set>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::Each;
using testing::HasSubstr;

class Search : public ProgramTest {
 protected:
  /// A sweep that tries half of the configurations.
  static std::vector<std::string> sweep_with(const std::string& search) {
    return {"sweep",     "--kernel-dir",  kToyFolder, "--seq",    "128,256", "--dtype",
            "fp16,bf16", "--batch",       "1",        "--heads",  "1",       "--device",
            "none",      "--no-emulate",  "--no-db",  "--format", "json",    "--search",
            search,      "--max-configs", "2"};
  }

  static std::set<std::string> proposers(const json& report) {
    std::set<std::string> names;
    for (const json& problem : report["problems"]) {
      for (const json& entry : problem["ranking"]) {
        names.insert(entry["proposed_by"]);
      }
    }
    return names;
  }
};

TEST_F(Search, StopsAtItsLimitAndCountsUpToIt) {
  for (const char* search : {"exhaustive", "random", "local", "model"}) {
    const ProcessResult result = fatune(sweep_with(search));
    expect_ok(result);
    EXPECT_THAT(result.err, HasSubstr("[2/8] ")) << search;
    EXPECT_THAT(result.err, HasSubstr("[8/8] ")) << search;
    const json report = json::parse(result.out);
    for (const json& problem : report["problems"]) {
      EXPECT_EQ(problem["ranking"].size(), 2U) << search;
    }
  }
}

class SearchOnAGpu : public Search {
 protected:
  SearchOnAGpu() { use_gpu_that_never_runs_kernels(); }

  /// Uses one compiler, so that each proposal is made when the previous outcome is known.
  static std::vector<std::string> measuring(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "sweep", "--kernel-dir", kToyFolder, "--dtype", "fp16", "--batch",  "1",   "--heads",
        "1",     "--repeats",    "2",        "--jobs",  "1",    "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(SearchOnAGpu, BeginsWithWhatWasFastOnOtherProblemsOfTheRun) {
  const json report = fatune_json(
      measuring({"--seq", "128,256", "--search", "model", "--max-configs", "3", "--no-db"}));
  EXPECT_THAT(proposers(report), testing::Contains("other problem"));
}

TEST_F(SearchOnAGpu, BeginsWithWhatWasFastInEarlierRunsOfTheStore) {
  expect_ok(fatune(measuring({"--seq", "128", "--search", "exhaustive"})));
  const std::vector<std::string> next{"--seq", "256", "--search", "local", "--max-configs", "1"};
  EXPECT_THAT(proposers(fatune_json(measuring(next))), Each("tuned neighbour"));
  std::vector<std::string> alone = next;
  alone.emplace_back("--no-db");
  EXPECT_THAT(proposers(fatune_json(measuring(alone))), Each("local"));
}

}  // namespace
}  // namespace fatune::testing_cli
