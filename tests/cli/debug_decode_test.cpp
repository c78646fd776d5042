// Tests `fatune debug` on the emulated kernel for decoding: every step of every part is right, and
// mistakes in copies of its sources are named where they begin.
#include <filesystem>

#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> debug_decode(const std::vector<std::string>& kernels, const char* config,
                                      const char* problem) {
  std::vector<std::string> arguments{"debug", "--format", "json", "--config", config};
  arguments.insert(arguments.end(), kernels.begin(), kernels.end());
  for (const std::string& word : words(problem)) {
    arguments.push_back(word);
  }
  return arguments;
}

struct ShownDecoding {
  const char* name;
  const char* config;
  const char* problem;
};

class DebugDecode : public ProgramTest {};
class DebugDecodeSteps : public DebugDecode, public testing::WithParamInterface<ShownDecoding> {};

TEST_P(DebugDecodeSteps, EveryStepIsRight) {
  const ProcessResult result =
      fatune(debug_decode({"--family", "flash_decode"}, GetParam().config, GetParam().problem));
  expect_ok(result);
  expect_schema(result.out, "debug");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["verdict"], "right") << report["first_finding"];
  EXPECT_GT(report["steps_per_part"], 0);
  EXPECT_GT(report["checks"].size(), 10U);
  for (const json& check : report["checks"]) {
    EXPECT_EQ(check["verdict"], "right") << check;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DebugDecodeSteps,
    testing::Values(
        ShownDecoding{"OneQuery", "(FP16, 128, 8, 64, 2, 1): parts_128", "--seq 1"},
        ShownDecoding{"TheUsualProblems", "(BF16, 64, 16, 128, 3, 2): parts_256+shared_sums", ""},
        ShownDecoding{"EightQueries", "(FP16, 64, 8, 64, 4, 3): parts_64",
                      "--seq 8 --causal --init large_logits"},
        ShownDecoding{"TilesOfRows", "(BF16, 256, 16, 64, 1, 2): parts_128+shared_sums",
                      "--seq 21 --seq-kv 300 --causal --init range"},
        ShownDecoding{"AWideStep", "(FP16, 64, 32, 256, 2, 1): parts_256",
                      "--seq 5 --init extreme_scores"},
        ShownDecoding{"OnePart", "(BF16, 128, 32, 64, 5, 1): parts_512", "--seq 32 --seq-kv 500"},
        ShownDecoding{"Tall", "(FP16, 64, 64, 64, 2, 2): parts_128",
                      "--seq 70 --causal --init large_logits"},
        ShownDecoding{"TwoConsumers", "(FP16, 256, 128, 80, 2, 1): parts_128+shared_sums",
                      "--seq 101 --init range"},
        ShownDecoding{"ThreeConsumers", "(BF16, 128, 192, 80, 3, 1): parts_128+shared_sums",
                      "--seq 200 --seq-kv 333 --causal"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(DebugDecode, TheUsualProblemsHaveSomePartsAndAnOddTail) {
  const json report = fatune_json(debug_decode(
      {"--family", "flash_decode"}, "(FP16, 64, 8, 64, 4, 3): parts_64", "--no-emulate"));
  EXPECT_EQ(report["problem"]["seq_len"], 1);
  EXPECT_EQ(report["problem"]["seq_len_kv"], 2 * 64 + 101);
  EXPECT_EQ(report["steps_per_part"], 1);
}

TEST_F(DebugDecode, AWorkerRunsItOnAGpu) {
  use_fake_gpu();
  const json report = fatune_json(debug_decode(
      {"--family", "flash_decode"}, "(FP16, 64, 8, 64, 4, 3): parts_64", "--seq 2 --seq-kv 300"));
  EXPECT_EQ(report["verdict"], "right");
  EXPECT_EQ(report["measured"], true);
}

/// A kernel that is not debugged has four arguments.
TEST_F(DebugDecode, NothingOfItIsLeftInOtherKernels) {
  expect_ok(
      fatune({"compile", "--family", "flash_decode", "--arch", "sm_90a", "--out", path("code"),
              "--ptx", "--seq", "1", "--config", "(FP16, 64, 8, 64, 4, 3): parts_64"}));
  int kernels = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("code"))) {
    if (entry.path().extension() == ".ptx") {
      const std::string ptx = read("code/" + entry.path().filename().string());
      EXPECT_THAT(ptx, HasSubstr("flash_decode_kernel_param_3"));
      EXPECT_THAT(ptx, Not(HasSubstr("flash_decode_kernel_param_4")));
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 1);
}

/// A line of the kernel's sources that is changed, and the first wrong value of it.
struct DecodingMistake {
  const char* name;
  const char* file;
  std::string right;
  std::string wrong;
  const char* config;
  const char* problem;
  const char* tensor;
  json step;  ///< null: the output
  const char* cause;
};

constexpr const char* kShortTiles = "(FP16, 64, 8, 64, 4, 1): parts_128";
constexpr const char* kTallTiles = "(FP16, 64, 64, 64, 2, 2): parts_128";

// Parts have two steps: keys 0 to 127, 128 to 255, and 256 to 299.
const std::vector<DecodingMistake> kDecodingMistakes{
    {"KeysOfOneQueryMore", "seen_keys.cuh", "position + 1\n", "position + 2\n", kShortTiles,
     "--seq 4 --seq-kv 300 --causal", "S", 4, "the mask: it lets through the score of key 297"},
    {"APartThatIsNotComputed", "part_schedule.cuh", "min(steps.end, part.step + work.part_steps);",
     "part.index == 1 ? part.step : min(steps.end, part.step + work.part_steps);", kShortTiles,
     "--seq 4 --seq-kv 300", "S", 2, "never written"},
    {"AStaleReference", "short_consumer.cuh", "sums.reference[r] = raised;\n", "", kShortTiles,
     "--seq 4 --seq-kv 300", "M", 0, "the maximum of a row"},
    {"ProbabilitiesInOtherChunks", "products.cuh",
     "stmatrix_x2_trans(panel + row * 128 + 16 * (chunk ^ row)",
     "stmatrix_x2_trans(panel + row * 128 + 16 * chunk", kShortTiles, "--seq 4 --seq-kv 300", "P",
     0, "packing of P"},
    {"SumsThatAreNotRescaled", "short_consumer.cuh", "sums.sum[r] *= factor;\n", "", kShortTiles,
     "--seq 4 --seq-kv 300 --init large_logits", "L", 1, "the rescaling of L"},
    {"OThatIsNotRescaled", "short_consumer.cuh", "sums.o[panel][r / 2 * 4 + r % 2] *= factor;\n",
     "", kShortTiles, "--seq 4 --seq-kv 300 --init large_logits", "O", 1,
     "would have without rescaling"},
    {"OfTallTilesToo", "tall_consumer.cuh", "rescale_output<S>(sums.o, rescale);\n", "", kTallTiles,
     "--seq 70 --seq-kv 300 --init large_logits", "O", 1, "would have without rescaling"},
    {"TheTailOfV", "producer.cuh", "panels.map, at,",
     "panels.map, v == 0 ? at : Coordinates5{0, min(step * S::kStepKeys, work_.seq_len_kv - "
     "S::kStepKeys), 0, part.head, part.batch},",
     kTallTiles, "--seq 70 --seq-kv 300", "O", 4, "the tile of V"},
    {"APartThatIsNotAdded", "output.cuh", "part + i * every < end", "part + i * every < end - 1",
     kShortTiles, "--seq 4 --seq-kv 300", "output", nullptr, "it is the row without part 2"},
    {"PartsThatAreAddedAlike", "output.cuh",
     "loaded[i].raise(raised[0], raised[1], scale_log2_);\n", "", kTallTiles,
     "--seq 70 --seq-kv 300", "output", nullptr, "if their M is ignored"}};

class DebugDecodeMistake : public DebugDecode, public testing::WithParamInterface<DecodingMistake> {
 protected:
  void plant(const DecodingMistake& mistake) const {
    std::filesystem::copy(FATUNE_SOURCE_DIR "/kernels/flash_decode", path("flash_decode"),
                          std::filesystem::copy_options::recursive);
    const std::string file = std::string("flash_decode/") + mistake.file;
    std::string text = read(file);
    const std::size_t at = text.find(mistake.right);
    ASSERT_NE(at, std::string::npos) << "the sources no longer have " << mistake.right;
    write(file, text.replace(at, mistake.right.size(), mistake.wrong));
  }
};

TEST_P(DebugDecodeMistake, IsNamedWhereItBegins) {
  const DecodingMistake& mistake = GetParam();
  plant(mistake);
  const json report = fatune_json(
      debug_decode({"--kernel-dir", path("flash_decode")}, mistake.config, mistake.problem),
      ExitCode::failed_outcomes);
  EXPECT_EQ(report["verdict"], "wrong");
  EXPECT_EQ(report["first_wrong"]["tensor"], mistake.tensor);
  EXPECT_EQ(report["first_wrong"]["step"], mistake.step);
  EXPECT_THAT(report["likely_cause"].get<std::string>(), HasSubstr(mistake.cause));
}

INSTANTIATE_TEST_SUITE_P(All, DebugDecodeMistake, testing::ValuesIn(kDecodingMistakes),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fatune::testing_cli
