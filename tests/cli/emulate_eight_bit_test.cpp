// Tests flash_decode with K and V of 8 bits on the CPU. Each problem has a part of the
// configurations (exhaustive.hpp).
#include <array>
#include <string>

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

}  // namespace
}  // namespace fatune::testing_cli
