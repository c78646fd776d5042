// Tests flash_decode with K and V of 8 bits on the CPU. Each problem has a part of the
// configurations (exhaustive.hpp).
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/emulated_family.hpp"
#include "exhaustive.hpp"

namespace fatune::testing_cli {
namespace {

class EmulateEightBits : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateEightBits() : EmulatedFamily("flash_decode") {}
};

// Both formats and all kinds of scales; groups, queries and rows that fill tiles and that do not;
// masks, lengths and layouts.
constexpr std::array kEightBitProblems{
    "--kv-dtype e4m3 --seq 1 --seq-kv 64 --batch 2 --heads 4 --kv-heads 2",
    "--kv-dtype e4m3 --kv-scales head --seq 1 --seq-kv 257 --batch 3 --heads 6 --kv-heads 2 --lse",
    "--kv-dtype e5m2 --seq 1 --seq-kv 900 --heads 8 --kv-heads 1",
    "--kv-dtype e5m2 --kv-scales head --seq 1 --seq-kv 512 --batch 2 --heads 3 --kv-heads 3 "
    "--layout bhsd",
    "--kv-dtype e4m3 --seq 2 --seq-kv 1 --heads 2 --kv-heads 1",
    "--kv-dtype e4m3 --kv-scales head --seq 3 --seq-kv 300 --heads 8 --kv-heads 2 --causal --lse",
    "--kv-dtype e5m2 --seq 9 --seq-kv 350 --heads 4 --kv-heads 4 --causal --window 40 --lse",
    "--kv-dtype e4m3 --kv-scales head --seq 30 --seq-kv 150 --heads 12 --kv-heads 2 --causal",
    "--kv-dtype e4m3 --kv-scales head --seq 1 --seq-kv-lens 257,0,1,190 --heads 4 --kv-heads 2 "
    "--lse",
    "--kv-dtype e5m2 --kv-scales head --seq 3 --seq-kv-lens 300,64,0 --heads 2 --kv-heads 2 "
    "--window 70 --layout bhsd",
    "--kv-dtype e4m3 --kv-scales head --seq 5 --seq-kv-lens 300,0,40 --heads 6 --kv-heads 1 "
    "--causal --sinks --softcap 20 --lse",
    "--kv-dtype e4m3 --kv-scales token --seq 1 --seq-kv 600 --batch 2 --heads 8 --kv-heads 2 "
    "--lse",
    "--kv-dtype e4m3 --kv-scales token --seq 2 --seq-kv-lens 3,400,129 --seq-kv 450 --heads 6 "
    "--kv-heads 3 --causal --layout bhsd",
    "--kv-dtype e4m3 --kv-scales head --seq 1 --seq-kv-lens 257,0,1,190 --heads 4 --kv-heads 2 "
    "--page-size 16 --lse",
    "--kv-dtype e5m2 --seq 2 --seq-kv 300 --heads 8 --kv-heads 1 --page-size 64 --layout bhsd",
    "--kv-dtype e4m3 --kv-scales token --seq 2 --seq-kv-lens 257,0,1,190 --heads 4 --kv-heads 2 "
    "--page-size 8 --causal",
    "--kv-dtype e4m3 --kv-scales page --seq 1 --seq-kv 400 --batch 2 --heads 8 --kv-heads 2 "
    "--page-size 32 --lse",
    "--kv-dtype e5m2 --kv-scales page --seq 1 --seq-kv-lens 130,1,300 --heads 4 --kv-heads 4 "
    "--page-size 4"};

TEST_P(EmulateEightBits, EveryConfigurationForTestsIsRight) {
  const std::string problem = kEightBitProblems.at(GetParam());
  expect_right(part_of(kept("eight_bit_ci"), GetParam(), 4), words(problem));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateEightBits,
                         testing::Range(std::size_t{0}, kEightBitProblems.size()),
                         [](const auto& test) {
                           return name_of(kEightBitProblems.at(test.param));
                         });

// Blocks take further parts from the counter, and a tile is loaded where another was read.
TEST_F(EmulateEightBits, MorePartsThanBlocksAreRight) {
  for (const char* timing : {"random", "lagging"}) {
    expect_right({"(FP16, 64, 8, 64, 1, 1): parts_64", "(BF16, 128, 8, 64, 2, 1): parts_256"},
                 words("--kv-dtype e4m3 --kv-scales head --seq 1 --seq-kv-lens 192,0,1,190,64,130 "
                       "--heads 48 --kv-heads 24 --schedules 1"),
                 timing);
  }
}

using EightBits = ProgramTest;
using testing::HasSubstr;

/// What is printed of a configuration that a rule leaves out.
std::string why_left_out(const ProcessResult& result) {
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  return result.out;
}

TEST_F(EightBits, OfTallTilesAreLeftOutByARule) {
  const auto emulated = [&](const char* config, const char* problem) {
    return why_left_out(fatune(with({"emulate", "--config", config},
                                    std::string("--seq 1 --heads 2 --kv-dtype e4m3 ") + problem)));
  };
  EXPECT_THAT(emulated("(BF16, 128, 128, 64, 3, 1): parts_256", ""),
              HasSubstr("short-tiles-of-8-bits: K and V of 8 bits are left operands"));
  EXPECT_THAT(emulated("(BF16, 128, 32, 128, 2, 3): parts_256", ""),
              HasSubstr("registers-for-columns: O and scores need 64 registers"));
  EXPECT_THAT(emulated("(BF16, 64, 8, 64, 3, 1): parts_256", "--page-size 1"),
              HasSubstr("copies-aligned: a copy begins at a multiple of 128 bytes"));
}

using nlohmann::json;

const std::vector<std::string> kSmallTiles{"--config", "(FP16, 64, 8, 64, 3, 1): parts_256"};
constexpr const char* kFewKeys = " --batch 1 --seq 1 --seq-kv 100 --heads 2 --schedules 1";

/// What is stored in 8 bits is compared with what it was before.
TEST_F(EightBits, ReportWhatTheyCost) {
  const auto emulated = [&](const std::string& options) {
    std::vector<std::string> arguments = with({"emulate"}, options + kFewKeys);
    arguments.insert(arguments.end(), kSmallTiles.begin(), kSmallTiles.end());
    return arguments;
  };
  const auto rms_percent = [&](const std::string& options) {
    const json report = fatune_json(with(emulated(options), "--format json"));
    EXPECT_EQ(report["inputs"].back(), "outliers");
    const json& config = report["configs"][0];
    EXPECT_GT(config["quantization_max_abs_error"], 0.0);
    return config["quantization_rms_percent"].get<double>();
  };
  for (const char* scales : {"tensor", "head", "token"}) {
    const std::string shared = std::string(" --kv-scales ") + scales;
    const double e4m3 = rms_percent("--kv-dtype e4m3" + shared);
    const double e5m2 = rms_percent("--kv-dtype e5m2" + shared);
    EXPECT_GT(e4m3, 1.0) << scales;
    EXPECT_LT(e4m3, 7.0) << scales;
    EXPECT_GT(e5m2, 2.0) << scales;
    EXPECT_LT(e5m2, 14.0) << scales;
  }
  const auto line = testing::ContainsRegex(
      "stored in 8 bits: O differs by [0-9.]+ % \\(rms\\) from attention of the unrounded values "
      "\\(input outliers\\)");
  EXPECT_THAT(fatune(emulated("--kv-dtype e4m3")).out, line);
  EXPECT_THAT(fatune(with(emulated("--kv-dtype e4m3"), "--format csv")).out,
              HasSubstr("quantization_rms_percent,quantization_max_abs_error"));
}

TEST_F(EightBits, ChangeNothingOfReportsOn16Bits) {
  auto arguments = with({"emulate"}, kFewKeys);
  arguments.insert(arguments.end(), kSmallTiles.begin(), kSmallTiles.end());
  const json report = fatune_json(with(arguments, "--format json"));
  EXPECT_EQ(report["inputs"].back(), "large_values");
  EXPECT_FALSE(report["configs"][0].contains("quantization_rms_percent"));
  EXPECT_THAT(fatune(with(arguments, "--format csv")).out, testing::Not(HasSubstr("quantization")));
  EXPECT_THAT(fatune(arguments).out, testing::Not(HasSubstr("stored in 8 bits")));
}

/// A kernel that multiplies V by 64 in fp16 is right while elements are below 1024. Only scales of
/// a deployment use all numbers of e5m2.
TEST_F(EightBits, AnOverflowThatOnlyGreatElementsShowIsFound) {
  std::filesystem::copy(FATUNE_SOURCE_DIR "/kernels/flash_decode", path("flash_decode"),
                        std::filesystem::copy_options::recursive);
  const auto plant = [&](const std::string& file, const std::string& right,
                         const std::string& wrong) {
    std::string text = read("flash_decode/" + file);
    ASSERT_NE(text.find(right), std::string::npos) << right;
    for (std::size_t at = 0; (at = text.find(right, at)) != std::string::npos; at += wrong.size()) {
      text.replace(at, right.size(), wrong);
    }
    write("flash_decode/" + file, text);
  };
  plant("converted_products.cuh", "alternates<kKvIsE4m3>(", "raised(");
  plant("converted_products.cuh", "  // Of four fragments of 64 columns",
        "  __device__ static TwoPairs raised(unsigned four) {\n"
        "    TwoPairs pairs = alternates<kKvIsE4m3>(four);\n"
        "    asm(\"mul.rn.f16x2 %0, %0, %1;\" : \"+r\"(pairs.first) : \"r\"(0x54005400u));\n"
        "    asm(\"mul.rn.f16x2 %0, %0, %1;\" : \"+r\"(pairs.second) : \"r\"(0x54005400u));\n"
        "    return pairs;\n  }\n  // Of four fragments of 64 columns");
  plant("scales.cuh", "value_ * kUnit", "value_ * kUnit / 64");
  const auto wrong_inputs = [&](const std::string& type, ExitCode code) {
    auto arguments = with({"check", "--device", "none", "--kernel-dir", path("flash_decode")},
                          "--batch 1 --seq 1 --seq-kv 100 --heads 2 --kv-scales head --format json "
                          "--kv-dtype " +
                              type);
    arguments.insert(arguments.end(), kSmallTiles.begin(), kSmallTiles.end());
    std::vector<std::string> wrong;
    const json report = fatune_json(arguments, code);
    for (const json& check : report["checks"]) {
      if (check["outcome"] != "right") {
        wrong.push_back(check["input"]);
      }
    }
    return wrong;
  };
  EXPECT_THAT(wrong_inputs("e5m2", ExitCode::failed_outcomes), testing::ElementsAre("outliers"));
  EXPECT_THAT(wrong_inputs("e4m3", ExitCode::ok), testing::IsEmpty());
}

}  // namespace
}  // namespace fatune::testing_cli
