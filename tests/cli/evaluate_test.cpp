// Tests `fatune evaluate` with the fake driver for the GPU's figures and a worker with scripted
// times.
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kWide =
    "(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
constexpr const char* kSquare =
    "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";

class Evaluate : public ProgramTest {
 protected:
  Evaluate() {
    use_fake_gpu();
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
    const json script{{"noise_percent", 0.2}, {"us", {{kWide, 90.0}, {kSquare, 100.0}}}};
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }

  /// Runs the command. Returns the lines of standard output that have a kind.
  std::vector<json> evaluate(const std::string& input,
                             const std::vector<std::string>& more = {"--no-db"}) {
    std::vector<std::string> arguments{"evaluate", "--family", "flash_sm80", "--seq",
                                       "256",      "--batch",  "1",          "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    process_.input = input;
    result_ = fatune(arguments);
    std::vector<json> lines;
    std::istringstream out(result_.out);
    for (std::string line; std::getline(out, line);) {
      json parsed = json::parse(line);
      if (parsed.contains("kind")) {
        expect_schema(line, "evaluate");
        lines.push_back(std::move(parsed));
      }
    }
    return lines;
  }

  static std::string proposal(const json& id, const std::string& config) {
    return json{{"id", id}, {"config", config}}.dump() + "\n";
  }

  ProcessResult result_;
};

TEST_F(Evaluate, SaysWhatMayBeProposed) {
  const std::vector<json> lines = evaluate("");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["kind"], "ready");
  EXPECT_EQ(lines[0]["problem"]["seq_len"], 256);
  EXPECT_EQ(lines[0]["parameters"].size(), 13U);
  EXPECT_EQ(lines[0]["parameters"][0]["values"], json({"FP16", "BF16"}));
  EXPECT_EQ(lines[0]["parameters"][0]["bound"], true);
}

TEST_F(Evaluate, TimesWhatIsProposedAndRepeatsTheIds) {
  const std::vector<json> lines =
      evaluate(proposal("first", kSquare) + proposal({{"n", 2}}, kWide));
  ASSERT_EQ(lines.size(), 3U) << result_.out << result_.err;
  for (const json& line : {lines[1], lines[2]}) {
    EXPECT_EQ(line["kind"], "answer");
    EXPECT_EQ(line["outcome"], "measured");
    const bool wide = line["config"] == kWide;
    EXPECT_EQ(line["id"], wide ? json({{"n", 2}}) : json("first"));
    EXPECT_NEAR(line["time_us"], wide ? 90.0 : 100.0, 1.0);
  }
  EXPECT_EQ(result_.exit_code, 0) << result_.err;
  EXPECT_THAT(result_.out, HasSubstr("fatune.results"));
}

TEST_F(Evaluate, TakesParametersByName) {
  const json parameters{{"B_r", 128},
                        {"B_c", 64},
                        {"n_warps", 4},
                        {"async_copy", true},
                        {"eager_load_blocks", true},
                        {"swizzled", true},
                        {"Q_mma_load_K_tiles", 2},
                        {"K_mma_load_K_tiles", 2},
                        {"V_mma_load_K_tiles", 2},
                        {"mma_double_buffer_loads", false},
                        {"optimized_softmax", true}};
  const std::vector<json> lines = evaluate(json{{"parameters", parameters}}.dump());
  ASSERT_EQ(lines.size(), 2U) << result_.out << result_.err;
  EXPECT_EQ(lines[1]["config"], kWide);
  EXPECT_EQ(lines[1]["id"], nullptr);
}

TEST_F(Evaluate, WhatCannotBeBuiltIsAnsweredAndEndsNothing) {
  const std::vector<json> lines =
      evaluate(proposal(1, "(FP16, 128, 96, 64, 4): load_0_0_0_tiles") + proposal(2, kWide));
  ASSERT_EQ(lines.size(), 3U) << result_.out << result_.err;
  EXPECT_EQ(lines[1]["outcome"], "invalid");
  EXPECT_THAT(std::string(lines[1]["detail"]), HasSubstr("B_r is 96"));
  EXPECT_EQ(lines[1]["time_us"], nullptr);
  EXPECT_EQ(lines[2]["outcome"], "measured");
}

TEST_F(Evaluate, TheSameAgainIsMeasuredOnce) {
  const std::vector<json> lines = evaluate(proposal(1, kWide) + proposal(2, kWide));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["time_us"], lines[2]["time_us"]);
}

TEST_F(Evaluate, BadLinesAreRefusedAndEndNothing) {
  const std::vector<std::string> bad{
      "nonsense",
      "[1]",
      R"({"id": 7})",
      R"({"id": 7, "config": 1})",
      R"({"id": 7, "config": "(FP16"})",
      R"({"id": 7, "config": "x", "parameters": {}})",
      R"({"id": 7, "parameters": {"B_r": 64}})",
      R"({"id": 7, "parameters": {"tiles": 64}})",
      R"({"id": 7, "parameters": {"B_r": [1]}})",
      R"({"id": 7, "more": 1, "config": "x"})",
      "{\"id\": 7, \"config\": \"\xff\"}",
  };
  std::string input;
  for (const std::string& line : bad) {
    input += line + "\n";
  }
  const std::vector<json> lines = evaluate(input + "\n \n" + proposal(8, kWide));
  ASSERT_EQ(lines.size(), bad.size() + 2) << result_.out << result_.err;
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const json& line = lines[i + 1];
    EXPECT_EQ(line["kind"], "refusal") << bad[i];
    EXPECT_EQ(line["line"], i + 1);
    EXPECT_FALSE(std::string(line["what"]).empty());
  }
  EXPECT_EQ(lines[3]["id"], 7);
  EXPECT_EQ(lines.back()["outcome"], "measured");
}

TEST_F(Evaluate, CountsWithoutATotal) {
  process_.input = proposal(1, kWide) + proposal(2, kSquare);
  const ProcessResult result =
      fatune({"evaluate", "--family", "flash_sm80", "--seq", "256", "--batch", "1", "--no-db"});
  EXPECT_THAT(result.err, testing::StartsWith("[2] b1 s256 h16 d128 FP16: 2 ranked, "));
}

TEST_F(Evaluate, SeveralProblemsAreAnError) {
  expect_error(fatune({"evaluate", "--seq", "256,512"}), ExitCode::usage, {"one problem"});
}

TEST_F(Evaluate, WithoutAGpuTimesAreEstimates) {
  const std::vector<json> lines =
      evaluate(proposal(1, kWide), {"--device", "none", "--no-emulate", "--heads", "1"});
  ASSERT_EQ(lines.size(), 2U) << result_.out << result_.err;
  EXPECT_EQ(lines[1]["measured"], false);
  EXPECT_GT(lines[1]["time_us"], 0.0);
}

}  // namespace
}  // namespace fatune::testing_cli
