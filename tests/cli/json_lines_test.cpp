// Tests --format jsonl: outcomes during a run, and records as lines.
#include "cli/program.hpp"

#include <set>
#include <sstream>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class JsonLines : public ProgramTest {
 protected:
  /// The lines of standard output. Each is JSON.
  std::vector<std::string> lines(const std::vector<std::string>& arguments,
                                 ExitCode expected = ExitCode::ok) {
    const ProcessResult result = fatune(arguments);
    EXPECT_EQ(result.exit_code, static_cast<int>(expected)) << result.err;
    std::vector<std::string> all;
    std::istringstream out(result.out);
    for (std::string line; std::getline(out, line);) {
      EXPECT_TRUE(json::accept(line)) << line;
      all.push_back(line);
    }
    return all;
  }

  /// Checks that the outcomes are those of the run in the last line, each once, by problem and
  /// configuration.
  static void expect_outcomes_of_the_last(const std::vector<std::string>& lines) {
    ASSERT_FALSE(lines.empty());
    expect_schema(lines.back(), "results");
    std::multiset<std::string> printed;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      expect_schema(lines[i], "outcome");
      const json outcome = json::parse(lines[i]);
      printed.insert(outcome["seq_len"].dump() + " " + outcome["run"].dump() +
                     outcome["config"].dump() + outcome["outcome"].dump() + outcome["rank"].dump() +
                     outcome["time_us"].dump());
    }
    std::multiset<std::string> whole;
    const json run = json::parse(lines.back());
    for (const json& problem : run["problems"]) {
      for (const char* kind : {"ranking", "failures"}) {
        for (const json& result : problem[kind]) {
          whole.insert(problem["problem"]["seq_len"].dump() + " " + problem["run"].dump() +
                       result["config"].dump() + result["outcome"].dump() + result["rank"].dump() +
                       result["time_us"].dump());
        }
      }
    }
    EXPECT_EQ(printed, whole);
  }
};

TEST_F(JsonLines, ASweepPrintsEachOutcomeAndThenTheRun) {
  use_fake_worker({{"noise_percent", 0.2}, {"us", {{"64, 64, 4", 100.0}}}});
  const std::vector<std::string> sweep{"sweep",   "--space",  "prog",      "--seq", "128,256",
                                       "--batch", "1",        "--repeats", "4",     "--dtype",
                                       "fp16",    "--format", "jsonl"};
  const auto all = lines(sweep);
  EXPECT_EQ(all.size(), 15U);
  expect_outcomes_of_the_last(all);
  auto reused = sweep;
  reused.emplace_back("--reuse");
  expect_outcomes_of_the_last(lines(reused));
}

TEST_F(JsonLines, AnEstimateToo) {
  const auto all = lines({"sweep", "--kernel-dir", FATUNE_SOURCE_DIR "/tests/families/faulty",
                          "--seq", "64", "--no-emulate", "--format", "jsonl"});
  expect_outcomes_of_the_last(all);
  EXPECT_EQ(json::parse(all.front())["rank"], nullptr) << "what has none is known first";
  EXPECT_NE(json::parse(all[all.size() - 2])["rank"], nullptr);
}

TEST_F(JsonLines, RepetitionsAreToldApart) {
  use_fake_worker({{"noise_percent", 0.2}});
  const auto all = lines({"run", "--config", kConfig, "--seq", "128", "--batch", "1", "--runs", "2",
                          "--repeats", "4", "--format", "jsonl"});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(json::parse(all[0])["run"], 1);
  EXPECT_EQ(json::parse(all[1])["run"], 2);
  expect_outcomes_of_the_last(all);
}

TEST_F(JsonLines, OtherCommandsPrintTheirRecords) {
  const auto all = lines({"list", "--space", "prog", "--dtype", "fp16", "--format", "jsonl"});
  EXPECT_EQ(all.size(), 7U);
  EXPECT_EQ(json::parse(all[0])["status"], "kept");
  EXPECT_EQ(json::parse(all[0])["rule"], nullptr);
}

TEST_F(JsonLines, ATextOfAnyBytesStaysInItsLine) {
  use_fake_worker({{"noise_percent", 0.2}});
  const std::string folder = toy_family_with("#error \"two\nlines\" \xff");
  const auto all = lines({"sweep", "--kernel-dir", folder, "--seq", "64", "--format", "jsonl"},
                         ExitCode::nothing_ranked);
  expect_outcomes_of_the_last(all);
}

}  // namespace
}  // namespace fatune::testing_cli
