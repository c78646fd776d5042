// Tests the kernels for prefill on packed batches, and the Hopper kernel on lengths of keys that
// differ and on keys in pages, on the CPU, with all checks and random schedules.
#include <array>

#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {
namespace {

/// Configurations of all schedules: one tile a block, tiles in turn, tiles from a counter; one to
/// three consumers, in turns or not, with overlap or not.
constexpr std::array kPackedConfigs{
    "(ws, FP16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1",
    "(ws, BF16, 64, 128, 96, 1, 8, 2): overlap+lazy+slots_1+cluster_1+persistent",
    "(ws_pp, FP16, 64, 192, 48, 2, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+dynamic",
    "(ws_pp, FP16, 64, 192, 64, 1, 12, 3): lazy+slots_1+cluster_1+persistent+dynamic",
    "(ws_pp, BF16, 64, 128, 64, 3, 8, 2): slots_2+cluster_1+persistent",
    "(ws, FP16, 64, 64, 32, 1, 4, 1): overlap+slots_1+cluster_1"};

/// As many keys as queries, chunks of longer sequences, more queries than keys; lengths of 0 and 1,
/// whole tiles, and others; long sequences, which come first.
constexpr std::array kPackedProblems{
    "--seq-lens 0,1,64,130,0,7 --heads 2 --kv-heads 1 --causal --lse",
    "--seq-lens 128,64,192 --heads 1",
    "--seq-lens 70,1,0,33,128 --seq-kv-lens 200,129,40,0,128 --heads 2 --causal --lse",
    "--seq-lens 100,5,140 --seq-kv-lens 30,90,140 --heads 1 --window 40 --lse",
    "--seq-lens 33,1,0,70 --seq-kv-lens 40,530,700,200 --heads 1 --causal --lse",
    "--seq-lens 1,90,2,65 --seq-kv-lens 64,33,1,96 --heads 4 --kv-heads 2 --sinks --softcap 20 "
    "--causal"};

class EmulatePacked : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulatePacked() : EmulatedFamily("flash_sm90") {}
};

TEST_P(EmulatePacked, EveryScheduleIsRight) {
  expect_right({kPackedConfigs.begin(), kPackedConfigs.end()},
               words(std::string(kPackedProblems.at(GetParam())) + " --schedules 1"));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulatePacked,
                         testing::Range(std::size_t{0}, kPackedProblems.size()),
                         [](const auto& test) { return name_of(kPackedProblems.at(test.param)); });

/// Lengths of 0 and 1, of whole steps and others; fewer keys than queries; a group's heads in a
/// tile.
constexpr std::array kLengthsProblems{
    "--seq 70 --seq-kv-lens 300,0,1,96,128 --heads 2 --kv-heads 1 --lse",
    "--seq 130 --seq-kv-lens 40,300,0,131 --heads 2 --causal --lse",
    "--seq 33 --seq-kv-lens 200,7,64 --heads 1 --window 40 --layout bhsd",
    "--seq 5 --seq-kv-lens 130,64,0,33 --heads 4 --kv-heads 2 --sinks --softcap 20 --causal"};

class EmulateKeyLengths : public EmulatePacked {};

TEST_P(EmulateKeyLengths, EveryScheduleIsRight) {
  const std::vector<std::string> problem =
      words(std::string(kLengthsProblems.at(GetParam())) + " --schedules 1");
  expect_right({kPackedConfigs.begin(), kPackedConfigs.end()}, problem);
  expect_right({kPackedConfigs.begin(), kPackedConfigs.end()}, with(problem, "--page-size 16"));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateKeyLengths,
                         testing::Range(std::size_t{0}, kLengthsProblems.size()),
                         [](const auto& test) { return name_of(kLengthsProblems.at(test.param)); });

TEST_F(EmulateKeyLengths, GroupsInATileAndManySequencesAreRight) {
  expect_right(
      {"(ws_pp, FP16, 64, 192, 64, 2, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+dynamic+"
       "pack_gqa"},
      words("--seq 50 --seq-kv-lens 300,0,1,96 --heads 6 --kv-heads 2 --schedules 1 --lse"));
  expect_right({kPackedConfigs[4], kPackedConfigs[3]},
               words("--seq 3 --seq-kv-lens uniform:0-90 --batch 40 --heads 5 --schedules 1"));
}

// Pages that are smaller than a step, as long, and longer; of packed batches, and of others.
class EmulatePagedPrefill : public EmulatedFamily, public testing::WithParamInterface<int> {
 protected:
  EmulatePagedPrefill() : EmulatedFamily("flash_sm90") {}
};

TEST_P(EmulatePagedPrefill, EveryScheduleIsRight) {
  const std::string pages = " --schedules 1 --page-size " + std::to_string(GetParam());
  const std::vector<std::string> configs{kPackedConfigs.begin(), kPackedConfigs.end()};
  expect_right(configs, words(kPackedProblems[2] + pages));
  expect_right(configs, words("--seq 70 --seq-kv 100 --batch 2 --heads 2 --kv-heads 1 --causal "
                              "--lse --layout bhsd" +
                              pages));
}

TEST_P(EmulatePagedPrefill, OtherHeadDimensionsAreRight) {
  const std::string pages = " --schedules 1 --page-size " + std::to_string(GetParam());
  expect_right({"(ws, FP16, 128, 128, 80, 2, 8, 2): overlap+lazy+slots_2+cluster_1+persistent"},
               words("--seq-lens 50,0,70 --seq-kv-lens 90,3,170 --heads 2" + pages));
  expect_right({"(ws, BF16, 72, 64, 64, 2, 4, 1): overlap+slots_1+cluster_1+persistent+dynamic"},
               words("--seq 50 --seq-kv 150 --batch 1 --heads 2" + pages));
}

INSTANTIATE_TEST_SUITE_P(Sizes, EmulatePagedPrefill, testing::Values(1, 16, 64, 256));

// More sequences than a warp looks at together, and more tiles than the device has SMs.
TEST_F(EmulatePacked, ManySequencesAreRight) {
  expect_right({kPackedConfigs[4], kPackedConfigs[3]},
               words("--seq-lens uniform:0-9 --batch 40 --heads 5 --schedules 1 --lse"));
  expect_right({kPackedConfigs[3]}, words("--seq-lens uniform:0-9 --batch 40 --heads 5 "
                                          "--schedules 1 --page-size 4"));
}

TEST_F(EmulatePacked, OtherHeadDimensionsAreRight) {
  const std::string problem = "--seq-lens 50,0,70 --seq-kv-lens 90,3,70 --heads 2 --causal";
  expect_right({"(ws, FP16, 128, 128, 80, 2, 8, 2): overlap+lazy+slots_2+cluster_1+persistent"},
               words(problem + " --schedules 1"));
  expect_right({"(ws, BF16, 72, 64, 64, 2, 4, 1): overlap+slots_1+cluster_1+persistent+dynamic"},
               words(problem + " --schedules 1"));
  expect_right({"(ws, FP16, 192, 128, 48, 2, 8, 2): lazy+slots_1+cluster_1+persistent"},
               words(problem + " --dhead-v 128 --schedules 1"));
}

constexpr std::array kPackedSm80Configs{
    "(FP16, 64, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax",
    "(BF16, 64, 128, 32, 4): async+swizzled+load_2_2_2_tiles",
    "(FP16, 64, 64, 32, 4): load_0_2_2_tiles",
    "(FP16, 64, 128, 64, 8): async+eager+swizzled+load_0_0_0_tiles+opt_softmax"};

class EmulatePackedSm80 : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulatePackedSm80() : EmulatedFamily("flash_sm80") {}
};

TEST_P(EmulatePackedSm80, EveryBlockFindsItsRows) {
  expect_right({kPackedSm80Configs.begin(), kPackedSm80Configs.end()},
               words(std::string(kPackedProblems.at(GetParam())) + " --schedules 1"));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulatePackedSm80,
                         testing::Range(std::size_t{0}, kPackedProblems.size()),
                         [](const auto& test) { return name_of(kPackedProblems.at(test.param)); });

TEST_F(EmulatePackedSm80, ManySequencesAndOtherHeadDimensionsAreRight) {
  expect_right({kPackedSm80Configs[0]},
               words("--seq-lens uniform:0-9 --batch 40 --heads 3 --schedules 1 --lse"));
  expect_right({"(BF16, 96, 64, 32, 4): async+eager+swizzled+load_0_2_2_tiles+opt_softmax"},
               words("--seq-lens 50,0,70 --seq-kv-lens 90,3,70 --heads 2 --causal --schedules 1"));
}

}  // namespace
}  // namespace fatune::testing_cli
