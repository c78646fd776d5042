// Tests flash_sm90 with Q, K and V of 8 bits on the CPU. Each problem has all configurations of its
// head dimension that can compute it.
#include <array>
#include <string>
#include <vector>

#include "base/ranges.hpp"
#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {
namespace {

class EmulateEightBitHopper : public EmulatedFamily,
                              public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateEightBitHopper() : EmulatedFamily("flash_sm90") {}
};

struct EightBitProblem {
  const char* d_head;
  const char* options;
};

// Scales of tensors and of heads; groups, masks, lengths, pages and layouts; rows and keys that
// fill tiles and that do not.
constexpr std::array kHopperProblems{
    EightBitProblem{"64", "--seq 128 --heads 2 --batch 2"},
    EightBitProblem{"64",
                    "--seq 100 --seq-kv 230 --heads 4 --kv-heads 2 --kv-scales head --causal"},
    EightBitProblem{"64", "--seq 90 --heads 3 --kv-scales head --causal --lse --sinks"},
    EightBitProblem{"64", "--seq 130 --seq-kv-lens 5,300,0 --heads 2 --softcap 20 --layout bhsd"},
    EightBitProblem{"64", "--seq 200 --heads 1 --batch 1 --window 50 --lse"},
    EightBitProblem{"128", "--seq 150 --heads 2 --batch 1 --layout bhsd"},
    // A short first step, which is a tile's only one for no rows.
    EightBitProblem{"128", "--seq 200 --seq-kv 390 --heads 2 --batch 2"},
    EightBitProblem{"128",
                    "--seq 70 --seq-kv 400 --heads 4 --kv-heads 2 --kv-scales head --causal"},
    EightBitProblem{"128", "--seq-lens 5,130,64 --heads 2 --kv-heads 1 --kv-scales head --causal"},
    EightBitProblem{"128", "--seq 130 --seq-kv 300 --heads 2 --batch 2 --page-size 16"},
    EightBitProblem{"128", "--seq 40 --heads 4 --batch 1 --lse --causal"},
    // Rows whose scores of a step are all negative, and far above those of the step before.
    EightBitProblem{"128", "--seq 300 --heads 4 --batch 1 --window 3 --causal"},
    EightBitProblem{"192", "--seq 150 --heads 2 --batch 1 --dhead-v 128 --causal --lse"},
    EightBitProblem{"256", "--seq 100 --seq-kv 200 --heads 2 --batch 1 --kv-scales head"},
    EightBitProblem{"256", "--seq 130 --heads 1 --batch 1 --causal --lse"}};

TEST_P(EmulateEightBitHopper, EveryConfigurationForTestsIsRight) {
  const EightBitProblem& problem = kHopperProblems.at(GetParam());
  const std::string options = problem.options;
  const bool needs_whole_tiles = options.find("-lens") != std::string::npos ||
                                 options.find("--page-size") != std::string::npos ||
                                 options.find("--lse") != std::string::npos;
  const auto configs = filtered(kept("eight_bit_ci"), [&](const std::string& config) {
    const bool is_split = config.find("+split") != std::string::npos;
    return config.find(std::string("E4M3, ") + problem.d_head + ",") != std::string::npos &&
           !(is_split && needs_whole_tiles);
  });
  expect_right(configs, words(std::string("--dtype e4m3 --schedules 1 --dhead ") + problem.d_head +
                              " " + options));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateEightBitHopper,
                         testing::Range(std::size_t{0}, kHopperProblems.size()),
                         [](const auto& test) {
                           const EightBitProblem& problem = kHopperProblems.at(test.param);
                           return "d" + name_of(std::string(problem.d_head) + problem.options);
                         });

/// A problem with scales of blocks, and the configurations that are tried on it.
struct BlockProblem {
  const char* options;
  std::vector<const char*> configs;
};

constexpr const char* kSerial = "(ws, E4M3, 64, 64, 32, 2, 4, 1): slots_1+cluster_1";
constexpr const char* kOverlap =
    "(ws_pp, E4M3, 64, 192, 64, 2, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+dynamic+"
    "skip_max";
constexpr const char* kShort =
    "(ws, E4M3, 128, 192, 64, 1, 12, 3): overlap+lazy+slots_1+cluster_1+persistent+short";
constexpr const char* kLazySerial =
    "(ws_pp, E4M3, 128, 128, 128, 2, 8, 2): lazy+slots_2+cluster_1+persistent";
constexpr const char* kSplit =
    "(ws_pp, E4M3, 128, 128, 128, 3, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+dynamic+"
    "split+skip_max";
constexpr const char* kSmallSteps =
    "(ws, E4M3, 128, 128, 32, 2, 8, 2): overlap+slots_1+cluster_1+persistent+dynamic";
constexpr const char* kSpare =
    "(ws, E4M3, 256, 128, 64, 2, 8, 2): overlap+slots_1+cluster_1+persistent+spare";

// Blocks that sequences fill and that they do not; tiles that begin within a block; short first
// steps, split tiles, and what else moves O, sums or references between steps.
const std::array kBlockProblems{
    BlockProblem{"--seq 256 --heads 2 --batch 2", {kSerial, kOverlap}},
    BlockProblem{"--seq 140 --seq-kv 430 --heads 4 --kv-heads 2 --batch 2 --causal --lse --sinks",
                 {kSerial, kOverlap}},
    BlockProblem{"--seq 200 --seq-kv 300 --heads 2 --batch 1 --softcap 20 --layout bhsd",
                 {kSerial, kOverlap}},
    BlockProblem{"--seq 300 --heads 2 --batch 1 --window 150 --lse", {kSerial, kOverlap}},
    BlockProblem{"--seq 130 --seq-kv-lens 5,300,0 --heads 2 --kv-heads 1", {kSerial, kOverlap}},
    BlockProblem{"--seq-lens 5,300,64,0,140 --heads 2 --kv-heads 1 --causal", {kSerial, kOverlap}},
    BlockProblem{"--seq-lens 5,140,0 --seq-kv-lens 300,260,7 --heads 2 --page-size 16",
                 {kSerial, kOverlap}},
    BlockProblem{"--seq 70 --seq-kv 400 --heads 4 --kv-heads 2 --batch 1 --causal",
                 {kShort, kLazySerial, kSplit, kSmallSteps}},
    BlockProblem{"--seq 200 --seq-kv 390 --heads 2 --batch 2",
                 {kShort, kLazySerial, kSplit, kSmallSteps}},
    // Rows whose scores of a step are all negative, and far above those of the step before.
    BlockProblem{"--seq 300 --heads 4 --batch 1 --window 3 --causal", {kShort, kSplit}},
    // A consumer without queries goes through all steps.
    BlockProblem{"--seq 100 --seq-kv 400 --heads 2 --batch 1",
                 {"(ws, E4M3, 64, 192, 64, 2, 12, 3): overlap+slots_1+cluster_1+short"}},
    BlockProblem{"--seq 160 --seq-kv 300 --heads 2 --batch 1", {kSpare}}};

class EmulateEightBitBlocks : public EmulatedFamily,
                              public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateEightBitBlocks() : EmulatedFamily("flash_sm90") {}
};

TEST_P(EmulateEightBitBlocks, EveryConfigurationIsRight) {
  const BlockProblem& problem = kBlockProblems.at(GetParam());
  expect_right(
      {problem.configs.begin(), problem.configs.end()},
      words("--dtype e4m3 --kv-scales block --schedules 1 " + std::string(problem.options)));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateEightBitBlocks,
                         testing::Range(std::size_t{0}, kBlockProblems.size()),
                         [](const auto& test) {
                           return name_of(kBlockProblems.at(test.param).options);
                         });

using EightBitHopper = ProgramTest;
using nlohmann::json;
using testing::HasSubstr;

// A sweep that names no type is one of 16 bits; a space of 8 bits alone is one of 8 bits.
TEST_F(EightBitHopper, IsTriedOnlyIfAskedFor) {
  const auto listed = [&](const std::string& options) {
    return fatune(words("list --family flash_sm90 --dhead 128 --space " + options)).out;
  };
  for (const char* space : {"tune", "tune_wide"}) {
    EXPECT_THAT(listed(space), testing::Not(HasSubstr("E4M3"))) << space;
    EXPECT_THAT(listed(space + std::string(" --dtype e4m3")), HasSubstr("kept    (ws, E4M3, 128"));
  }
  EXPECT_THAT(listed("tune"), HasSubstr("kept    (ws, BF16, 128"));
  EXPECT_THAT(listed("eight_bit_ci"), HasSubstr("kept    (ws_pp, E4M3, 128"));
}

TEST_F(EightBitHopper, WhatItCannotBuildIsRefusedByARule) {
  const auto expect_refused = [&](const std::string& config, const std::string& reason) {
    expect_error(fatune({"emulate", "--config", config}), ExitCode::usage, {reason});
  };
  expect_refused("(ws, E4M3, 128, 128, 80, 2, 8, 2): overlap+slots_1+cluster_1",
                 "eight-bit-steps: products of 8-bit elements sum 32 keys at a time");
  expect_refused("(ws, E4M3, 80, 128, 64, 2, 8, 2): overlap+slots_1+cluster_1",
                 "eight-bit-rows: products of 8-bit elements sum 32 of them at a time");
  expect_refused("(ws, E4M3, 96, 128, 64, 2, 8, 2): overlap+slots_1+cluster_1",
                 "O stored, 64 columns at a time: 96 are no multiple");
  expect_refused("(ws, E4M3, 128, 128, 64, 2, 8, 2): overlap+slots_1+cluster_2+persistent",
                 "eight-bit-tiles-alone: a block transposes V of 8 bits for itself");
  expect_refused("(ws, E4M3, 128, 128, 64, 2, 8, 2): overlap+slots_1+cluster_1+pack_gqa",
                 "eight-bit-heads-apart: heads have scales of their own");
}

/// O is multiplied 64 times, and each time the next product cuts off its last bits. Without a
/// factor against that, the greatest error is 86 % of the limit.
TEST_F(EightBitHopper, ScalesOfBlocksDoNotMakeOutputsSmaller) {
  auto arguments = words(
      "emulate --seq 64 --seq-kv 8192 --batch 1 --heads 1 --kv-scales block --schedules 1 --format "
      "json");
  arguments.insert(arguments.end(), {"--config",
                                     "(ws_pp, E4M3, 128, 128, 64, 2, 8, 2): overlap+"
                                     "lazy+slots_1+cluster_1+persistent"});
  const json report = fatune_json(arguments);
  const json& config = report["configs"][0];
  EXPECT_EQ(config["outcome"], "right");
  EXPECT_LT(config["percent_of_limit"], 60);
}

TEST_F(EightBitHopper, OnlyStepsWithinABlockHaveOneScale) {
  const std::string refused = fatune({"emulate", "--seq", "64", "--kv-scales", "block", "--config",
                                      "(ws, E4M3, 128, 128, 96, 2, 8, 2): overlap+slots_1+"
                                      "cluster_1"})
                                  .out;
  EXPECT_THAT(refused, HasSubstr("scale-blocks-whole: a step has one scale of K and one of V: "
                                 "with scales of blocks of 128 keys, BLOCK_N 96 must divide them"));
}

}  // namespace
}  // namespace fatune::testing_cli
