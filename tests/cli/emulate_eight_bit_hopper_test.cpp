// Tests flash_sm90 with Q, K and V of 8 bits on the CPU. Each problem has all configurations of its
// head dimension that can compute it.
#include <array>
#include <string>

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

// Both kinds of scales; groups, masks, lengths, pages and layouts; rows and keys that fill tiles
// and that do not.
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

using EightBitHopper = ProgramTest;
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

}  // namespace
}  // namespace fatune::testing_cli
