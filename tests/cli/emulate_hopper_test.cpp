// Tests the Hopper kernel on the CPU, with all checks and random schedules: every configuration of
// the space for tests, and a sample of the tuning space, on the shapes that take different paths.
// Each problem has a part of the configurations (exhaustive.hpp).
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "cli/emulated_family.hpp"
#include "exhaustive.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class EmulateHopper : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateHopper() : EmulatedFamily("flash_sm90") {}
};

constexpr std::array kProblems{"--seq 384 --batch 1 --heads 1",
                               "--seq 200 --batch 1 --heads 2 --lse",
                               "--seq 384 --batch 1 --heads 1 --causal",
                               "--seq 300 --batch 1 --heads 2 --kv-heads 1 --causal",
                               "--seq 70 --seq-kv 333 --batch 1 --heads 2 --causal --layout bhsd",
                               "--seq 333 --seq-kv 70 --batch 1 --heads 1 --causal --lse",
                               "--seq 300 --batch 1 --heads 1 --window 70",
                               "--seq 260 --batch 1 --heads 2 --causal --softcap 20 --lse",
                               "--seq 200 --seq-kv 150 --heads 4 --kv-heads 2 --batch 1 --causal "
                               "--window 128 --sinks --lse"};

TEST_P(EmulateHopper, EveryConfigurationForTestsIsRight) {
  expect_right(part_of(kept("hopper_ci"), GetParam(), 4), words(kProblems.at(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateHopper, testing::Range(std::size_t{0}, kProblems.size()),
                         [](const auto& test) { return name_of(kProblems.at(test.param)); });

// Head dimensions whose rows do not fill their panels, or whose V has shorter rows than K.
constexpr std::array kOtherHeadDims{72, 80, 96, 192};

/// Configurations of one head dimension that take every path: one to three consumers, serial and
/// overlapped steps, one and two slots, a cluster, split tiles, and a short step.
std::vector<std::string> configs_of(int d_head) {
  std::vector<std::string> configs{
      "(ws, FP16, D, 64, 32, 2, 4, 1): slots_1+cluster_1",
      "(ws, BF16, D, 128, 96, 1, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+short",
      "(ws_pp, FP16, D, 128, 64, 2, 8, 2): lazy+slots_2+cluster_2+persistent",
      "(ws, BF16, D, 128, 48, 2, 8, 2): overlap+slots_1+cluster_2+persistent",
      "(ws_pp, FP16, D, 192, 64, 1, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+dynamic+"
      "split+skip_max"};
  for (std::string& config : configs) {
    config.replace(config.find('D'), 1, std::to_string(d_head));
  }
  return configs;
}

/// One head dimension and one problem.
class EmulateHopperHeadDims : public EmulatedFamily,
                              public testing::WithParamInterface<std::tuple<int, std::size_t>> {
 protected:
  EmulateHopperHeadDims() : EmulatedFamily("flash_sm90") {}
};

TEST_P(EmulateHopperHeadDims, AreRight) {
  const auto [d_head, problem] = GetParam();
  expect_right(part_of(configs_of(d_head), problem + static_cast<std::size_t>(d_head) / 8, 5),
               words(kProblems.at(problem)));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateHopperHeadDims,
                         testing::Combine(testing::ValuesIn(kOtherHeadDims),
                                          testing::Range(std::size_t{0}, kProblems.size())),
                         [](const auto& test) {
                           return fmt::format("D{}{}", std::get<0>(test.param),
                                              name_of(kProblems.at(std::get<1>(test.param))));
                         });

/// Groups of two to eight heads, which divide 64 rows or leave some over: no, one or both masks,
/// log-sum-exps, sinks, a softcap, and another layout.
constexpr std::array kGroupProblems{
    "--seq 50 --heads 4 --kv-heads 1 --batch 2 --lse",
    "--seq 101 --heads 14 --kv-heads 2 --batch 1 --causal --lse",
    "--seq 70 --seq-kv 333 --heads 8 --kv-heads 1 --batch 1 --causal --layout bhsd",
    "--seq 100 --seq-kv 150 --heads 6 --kv-heads 2 --batch 1 --causal --window 64 --sinks --lse",
    "--seq 60 --heads 5 --kv-heads 1 --batch 1 --window 20 --softcap 20",
    "--seq 40 --seq-kv 30 --heads 6 --kv-heads 3 --batch 1 --causal --lse"};

/// One problem with groups of heads, whose rows are packed.
class EmulateHopperGroups : public EmulatedFamily, public testing::WithParamInterface<std::size_t> {
 protected:
  EmulateHopperGroups() : EmulatedFamily("flash_sm90") {}

  static std::vector<std::string> packed(std::vector<std::string> configs) {
    for (std::string& config : configs) {
      config += "+pack_gqa";
    }
    return configs;
  }
};

TEST_P(EmulateHopperGroups, PackedRowsAreRight) {
  const std::size_t problem = GetParam();
  std::vector<std::string> configs = packed(part_of(kept("hopper_ci"), problem, 4));
  for (const int d_head : {80, 192}) {
    const auto others = packed(part_of(configs_of(d_head), problem, 5));
    configs.insert(configs.end(), others.begin(), others.end());
  }
  expect_right(configs, words(kGroupProblems.at(problem)));
}

INSTANTIATE_TEST_SUITE_P(Problems, EmulateHopperGroups,
                         testing::Range(std::size_t{0}, kGroupProblems.size()),
                         [](const auto& test) { return name_of(kGroupProblems.at(test.param)); });

// extreme_scores and dominating_key have probabilities that are too great for sums without maxima.
TEST_F(EmulateHopper, StepsWithoutMaximaAreRight) {
  const std::vector<std::string> configs{
      "(ws_pp, BF16, 64, 128, 64, 2, 8, 2): overlap+lazy+slots_2+cluster_1+persistent+skip_max",
      "(ws, FP16, 128, 192, 64, 2, 12, 3): "
      "overlap+lazy+slots_2+cluster_1+persistent+dynamic+pack_gqa+skip_max"};
  expect_right(part_of(configs, 0, 2),
               words("--seq 100 --seq-kv 400 --batch 1 --heads 1 --window 150 --softcap 20"));
  expect_right(part_of(configs, 0, 2),
               words("--seq 100 --seq-kv-lens 333,0,64 --heads 1 --causal"));
  expect_right(part_of(configs, 1, 2),
               words("--seq 90 --seq-kv 300 --page-size 16 --heads 4 --kv-heads 2 --batch 1 "
                     "--causal --sinks --lse"));
  expect_right(part_of(configs, 1, 2),
               words("--seq-lens 130,1,257 --batch 3 --heads 2 --kv-heads 1"));
}

// With more tiles than blocks, slots go from consumer to consumer, and counters past their start.
TEST_F(EmulateHopper, SpareSlotsGoAroundAndClustersTakeTilesFromACounter) {
  const std::string two = "(ws_pp, BF16, 64, 128, 64, 2, 8, 2): overlap+lazy+slots_1+";
  const std::string three = "(ws, FP16, 64, 192, 64, 2, 12, 3): overlap+lazy+slots_1+";
  expect_right({two + "cluster_1+persistent+dynamic+spare", three + "cluster_1+persistent+spare",
                two + "cluster_2+persistent+dynamic", three + "cluster_2+persistent+dynamic+spare"},
               words("--seq 200 --heads 70 --batch 1 --causal --lse --schedules 1"));
  expect_right({two + "cluster_1+persistent+split+spare", two + "cluster_2+persistent+spare"},
               words("--seq 190 --seq-kv 200 --heads 70 --kv-heads 35 --batch 1 --schedules 1"));
  expect_right({"(ws_pp, BF16, 64, 128, 64, 2, 8, 2): "
                "overlap+lazy+slots_1+cluster_1+persistent+dynamic+pack_gqa+skip_max+spare"},
               words("--seq-lens 70,20,100,1,64 --batch 5 --heads 48 --kv-heads 16 --causal "
                     "--schedules 1"));
  // Seven heads do not fill 64 rows: those that are left over are 0 in the spare slot too.
  expect_right({"(ws_pp, FP16, 64, 128, 64, 2, 8, 2): "
                "overlap+lazy+slots_1+cluster_1+persistent+pack_gqa+spare"},
               words("--seq 70 --heads 126 --kv-heads 18 --batch 2 --causal --schedules 1"));
}

/// The instructions that warps issued whose names begin like this. The report is of --profile.
std::int64_t count_issued(const json& row, const std::string& name) {
  std::int64_t count = 0;
  for (const json& opcode : row["opcodes"]) {
    if (opcode["what"].get<std::string>().starts_with(name)) {
      count += opcode["warp_instructions"].get<std::int64_t>();
    }
  }
  return count;
}

// Queries fill fewer consumers than tiles have: of the last tile, or under a causal mask the first.
TEST_F(EmulateHopper, ConsumersWithoutQueriesPassTilesOver) {
  const std::string free = "(ws, BF16, 64, 192, 64, 2, 12, 3): overlap+lazy+slots_1+cluster_1";
  const std::string turns = "(ws_pp, FP16, 64, 192, 80, 2, 12, 3): overlap+lazy+slots_2+cluster_1";
  const std::string pairs = "(ws_pp, BF16, 64, 128, 64, 2, 8, 2): overlap+lazy+slots_1+cluster_2";
  expect_right({free + "+persistent+dynamic+spare", turns + "+persistent+dynamic+skip_max",
                pairs + "+persistent+dynamic", turns + "+persistent+split"},
               words("--seq 200 --heads 70 --batch 1 --causal --lse --schedules 1"));
  expect_right({"(ws_pp, BF16, 64, 192, 64, 2, 12, 3): lazy+slots_1+cluster_1", free,
                turns + "+persistent+split", turns + "+persistent+short"},
               words("--seq 250 --seq-kv 300 --heads 3 --batch 1 --schedules 1"));
  expect_right({free + "+persistent+pack_gqa", pairs + "+persistent+dynamic+pack_gqa+skip_max"},
               words("--seq 90 --seq-kv 200 --heads 21 --kv-heads 3 --batch 1 --causal"));
  expect_right({free, turns + "+persistent+split"},
               words("--seq 270 --seq-kv 100 --heads 2 --batch 1 --causal --window 70 --lse"));
  expect_right({free + "+persistent+dynamic"},
               words("--seq 220 --seq-kv 300 --seq-kv-lens 100,300,0 --heads 2 --causal"));
}

// A step of a consumer is four products for S and four for O, of four warps. 256 queries fill four
// consumers, which under a causal mask see keys of one, two, three and four steps.
TEST_F(EmulateHopper, ConsumersWithoutQueriesComputeNothing) {
  const std::string config = "(ws, BF16, 64, 192, 64, 2, 12, 3): overlap+lazy+slots_1+cluster_1";
  const auto products = [&](const std::string& mask) {
    return count_issued(expect_right({config}, words("--seq 256 --heads 1 --batch 1 --profile "
                                                     "--schedules 1" +
                                                     mask))[0],
                        "wgmma.mma_async");
  };
  EXPECT_EQ(products(""), 4 * 8 * (4 + 4 + 4 + 4));
  EXPECT_EQ(products(" --causal"), 4 * 8 * (1 + 2 + 3 + 4));
}

TEST_F(EmulateHopper, QueriesInRegistersAreReadOncePerTile) {
  const std::string config =
      "(ws, BF16, 256, 128, 64, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent";
  const auto reads = [&](const std::string& spare) {
    return count_issued(expect_right({config + spare}, words("--seq 128 --heads 1 --batch 1 "
                                                             "--profile --schedules 1"))[0],
                        "ldmatrix");
  };
  EXPECT_EQ(reads(""), 0);
  EXPECT_EQ(reads("+spare"), 6 * 8) << "six for each of eight warps, not for each of two steps";
}

TEST_F(EmulateHopper, QueriesInRegistersAreThoseOfTheTile) {
  const std::string config = "(ws_pp, BF16, 256, 128, 64, 2, 8, 2): overlap+lazy+slots_1+cluster_";
  expect_right({config + "1+persistent+split+spare", config + "2+persistent+dynamic+spare"},
               words("--seq 140 --heads 70 --batch 1 --causal --schedules 1"));
}

// Sequences of any lengths end within a tile, whose other rows are of no query; so do pages.
TEST_F(EmulateHopper, PackedRowsOfPackedBatchesAndPagesAreRight) {
  const std::vector<std::string> configs{
      "(ws_pp, FP16, 64, 192, 128, 2, 12, 3): "
      "overlap+lazy+slots_2+cluster_1+persistent+dynamic+pack_gqa",
      "(ws, BF16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1+persistent+pack_gqa"};
  const std::string lengths = "--batch 4 --seq-lens 1,33,0,70 --causal --lse --sinks ";
  expect_right(part_of(configs, 0, 2), words(lengths + "--heads 12 --kv-heads 4"));
  expect_right(part_of(configs, 1, 2), words(lengths + "--heads 8 --kv-heads 2"));
  expect_right(part_of(configs, 0, 2),
               words("--seq 30 --seq-kv 200 --page-size 16 --heads 7 --kv-heads 1 --batch 2 "
                     "--causal"));
}

TEST_F(EmulateHopper, PackingIsForHeadsThatShareKeys) {
  const ProcessResult result =
      fatune({"emulate", "--config", "(ws, FP16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1+pack_gqa",
              "--seq", "64", "--heads", "2", "--batch", "1", "--quiet"});
  EXPECT_THAT(result.out, testing::HasSubstr("here each of 2 has its own"));
}

TEST_F(EmulateHopper, ASampleOfTheTuningSpaceIsRight) {
  std::vector<std::string> configs = kept("hopper");
  std::mt19937 random(20);
  std::shuffle(configs.begin(), configs.end(), random);
  configs.resize(is_exhaustive() ? 60 : 5);
  expect_right(configs, words("--seq 150 --heads 2 --kv-heads 1 --batch 1 --causal"));
}

// The problem has more tiles than the device has SMs.
TEST_F(EmulateHopper, ABlockOfManyTilesIsRight) {
  expect_right({"(ws, FP16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1+persistent",
                "(ws, FP16, 64, 64, 32, 2, 4, 1): overlap+slots_2+cluster_1+persistent+dynamic",
                "(ws_pp, FP16, 64, 128, 32, 2, 8, 2): slots_2+cluster_2+persistent"},
               words("--seq 8 --seq-kv 64 --heads 48 --batch 3 --kv-heads 4 --schedules 1"));
}

// All tiles are split over several blocks each, also under a mask that hides some parts.
TEST_F(EmulateHopper, TilesThatBlocksShareAreRight) {
  std::vector<std::string> configs{
      "(ws, FP16, 64, 64, 32, 2, 4, 1): overlap+slots_1+cluster_1+persistent+split",
      "(ws_pp, BF16, 64, 128, 48, 2, 8, 2): lazy+slots_2+cluster_1+persistent+dynamic+split"};
  for (const int d_head : kOtherHeadDims) {
    configs.push_back(fmt::format(
        "(ws, FP16, {}, 64, 48, 2, 4, 1): overlap+slots_1+cluster_1+persistent+split", d_head));
  }
  expect_right(configs,
               words("--seq 100 --seq-kv 520 --batch 1 --heads 3 --kv-heads 1 --causal --lse"));
}

TEST_F(EmulateHopper, TilesThatBlocksShareHaveOneSink) {
  expect_right(
      {"(ws, BF16, 64, 64, 32, 2, 4, 1): overlap+slots_1+cluster_1+persistent+split"},
      words("--seq 100 --seq-kv 520 --batch 1 --heads 3 --causal --sinks --softcap 30 --lse"));
}

// A wave of whole tiles follows the tiles that blocks share.
TEST_F(EmulateHopper, WholeTilesAfterSharedOnesAreRight) {
  const std::vector<std::string> configs{
      "(ws, FP16, 64, 64, 32, 2, 4, 1): overlap+slots_2+cluster_1+persistent+split",
      "(ws, FP16, 64, 64, 32, 2, 4, 1): lazy+slots_1+cluster_1+persistent+dynamic+split"};
  expect_right(part_of(configs, 1, 2),
               words("--seq 8 --seq-kv 40 --heads 45 --batch 6 --kv-heads 3 --schedules 1"));
}

/// The configurations that the tuning space keeps for one head dimension and problem.
class HopperSpace : public ProgramTest {
 protected:
  json list(const std::string& d_head, const std::vector<std::string>& problem) {
    std::vector<std::string> arguments{"list",    "--family",  "flash_sm90",
                                       "--space", "tune",      "--dhead",
                                       d_head,    "--dhead-v", d_head == "192" ? "128" : d_head,
                                       "--dtype", "fp16",      "--arch",
                                       "sm_90a",  "--format",  "json"};
    arguments.insert(arguments.end(), problem.begin(), problem.end());
    return fatune_json(arguments);
  }
  static bool keeps(const json& list, const std::string& tile) {
    return std::any_of(list["kept"].begin(), list["kept"].end(), [&](const json& kept) {
      return kept["config"].get<std::string>().find(tile) != std::string::npos;
    });
  }
  static std::set<std::string> rules(const json& list) {
    std::set<std::string> rules;
    for (const json& dropped : list["pruned"]) {
      rules.insert(dropped["rule"]);
    }
    return rules;
  }
};

TEST_F(HopperSpace, RulesThatKnowTheProblemLeaveEnoughAndTheLikelyWinners) {
  std::size_t index = 0;
  for (const char* d_head : {"64", "128", "256", "96", "192"}) {
    for (const char* seq : {"512", "1024", "2048", "4096", "8192", "16384"}) {
      for (const char* mask : {"--causal", "--no-causal"}) {
        if (!is_taken(index++, 0, 5)) {
          continue;
        }
        const json kept = list(d_head, {"--seq", seq, mask});
        EXPECT_GE(kept["kept"].size(), 200U) << d_head << " " << seq;
        EXPECT_TRUE(keeps(kept, d_head == std::string("256") ? "256, 128, 80" : ", 128, 128, "));
        EXPECT_TRUE(keeps(kept, d_head == std::string("256") ? "256, 128, 64" : ", 192, 80, "));
      }
    }
  }
}

TEST_F(HopperSpace, RulesThatKnowTheProblemLeaveSomethingOfEach) {
  std::size_t index = 0;
  for (const char* d_head : {"64", "128", "256", "72", "192"}) {
    for (const char* problem : {"--seq 1 --batch 1 --heads 1", "--seq 1", "--seq 65 --causal",
                                "--seq 193 --batch 1", "--seq 1 --seq-kv 16384 --batch 1",
                                "--seq 4096 --seq-kv 1", "--seq 700 --window 30 --batch 2"}) {
      if (!is_taken(index++, 0, 3)) {
        continue;
      }
      EXPECT_GE(list(d_head, words(problem))["kept"].size(), 16U) << d_head << " " << problem;
    }
  }
}

TEST_F(HopperSpace, PaddedKeysAndUnfilledWavesAreDropped) {
  const json padded = list("128", {"--seq", "512"});
  EXPECT_TRUE(rules(padded).contains("keys-padded"));
  for (const json& kept : padded["kept"]) {
    const std::string config = kept["config"];
    EXPECT_TRUE(config.find(", 128, 160, ") == std::string::npos ||
                config.find("+short") != std::string::npos)
        << config;
  }
  EXPECT_FALSE(keeps(list("128", {"--seq", "512", "--causal"}), ", 128, 160, "));
  EXPECT_FALSE(rules(list("128", {"--seq", "512", "--window", "9"})).contains("keys-padded"));
  // Either tile takes one wave. With 192 rows each SM works longer, and 36 of 132 SMs are idle, not
  // 4.
  const json one_wave = list("128", {"--seq", "1024", "--batch", "1"});
  for (const json& kept : one_wave["kept"]) {
    const std::string config = kept["config"];
    EXPECT_TRUE(config.find("FP16, 128, 192, ") == std::string::npos ||
                config.find("+split") != std::string::npos)
        << config;
  }
  EXPECT_TRUE(keeps(one_wave, "FP16, 128, 128, "));
  EXPECT_TRUE(keeps(list("128", {"--seq", "3072", "--batch", "1"}), "FP16, 128, 192, "));
}

TEST_F(HopperSpace, AShortFirstStepIsTriedWhereItSavesKeys) {
  const json ragged = list("128", {"--seq", "2048"});  // 25 x 80 + 48 keys, 14 x 144 + 32
  EXPECT_TRUE(
      keeps(ragged, ", 192, 80, 3, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+short"));
  EXPECT_FALSE(
      keeps(ragged, ", 128, 128, 2, 8, 2): overlap+lazy+slots_2+cluster_1+persistent+short"));
  EXPECT_FALSE(keeps(list("128", {"--seq", "2048", "--causal"}), "+short"));
  EXPECT_TRUE(rules(ragged).contains("last-step-padded"));
  for (const json& kept : ragged["kept"]) {
    const std::string config = kept["config"];
    EXPECT_TRUE(config.find(", 128, 144, 2, 8, 2): overlap") == std::string::npos ||
                config.find("+short") != std::string::npos)
        << config;
  }
}

// A step without maxima needs steps that mask nothing, and products that take less time than them.
TEST_F(HopperSpace, MaximaAreSkippedWhereThatPays) {
  EXPECT_TRUE(keeps(list("128", {"--seq", "1024", "--causal"}), "+skip_max"));
  EXPECT_TRUE(keeps(list("64", {"--seq", "512"}), "+skip_max"));
  for (const auto& [d_head, problem] :
       std::vector<std::pair<std::string, std::string>>{{"256", "--seq 4096"},
                                                        {"128", "--seq 512 --causal"},
                                                        {"64", "--seq 4096 --window 512"}}) {
    const json kept = list(d_head, words(problem));
    EXPECT_FALSE(keeps(kept, "+skip_max")) << d_head << problem;
    EXPECT_TRUE(rules(kept).contains("maxima-cost-less")) << d_head << problem;
  }
  // Where it pays, its opposite is tried with the tiles that win with maxima alone.
  const json pays = list("128", {"--seq", "4096"});
  EXPECT_TRUE(rules(pays).contains("sums-cost-less"));
  for (const json& kept : pays["kept"]) {
    const std::string config = kept["config"];
    EXPECT_TRUE(config.find(", 128, 128, 112, 2, 8, 2): overlap") == std::string::npos ||
                config.ends_with("+skip_max"))
        << config;
  }
  EXPECT_TRUE(keeps(pays, "192, 80, 3, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+short"));
}

TEST_F(HopperSpace, SpareSlotsAndCountedClustersAreTriedAtD256) {
  const json large = list("256", {"--seq", "4096"});
  EXPECT_TRUE(keeps(large, "slots_1+cluster_1+persistent+split+spare"));
  EXPECT_TRUE(keeps(large, "slots_1+cluster_2+persistent+dynamic+spare"));
  EXPECT_TRUE(std::ranges::any_of(large["kept"], [](const json& kept) {
    return kept["config"].get<std::string>().ends_with(
        "256, 128, 64, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+split");
  })) << "which won before there was a spare slot";
  EXPECT_TRUE(rules(large).contains("spare-slot-is-free"));
  const json small = list("128", {"--seq", "4096"});
  EXPECT_FALSE(keeps(small, "+spare"));
  EXPECT_FALSE(keeps(small, "cluster_2+persistent+dynamic"));
  EXPECT_TRUE(rules(small).contains("clusters-take-longer"));
}

TEST_F(HopperSpace, TilesAreSplitWhereTheirWavesLeaveSmsIdle) {
  EXPECT_TRUE(keeps(list("128", {"--seq", "1024", "--seq-kv", "65536", "--batch", "1"}), "+split"));
  EXPECT_TRUE(keeps(list("128", {"--seq", "512", "--seq-kv", "8192", "--batch", "1", "--causal"}),
                    "192, 80, 3, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+split"));
  const json square = list("128", {"--seq", "2048", "--causal"});
  EXPECT_FALSE(keeps(square, "+split"));
  EXPECT_TRUE(rules(square).contains("split-saves-little"));
}

TEST_F(EmulateHopper, TheTuningSpaceIsWideForEachProblem) {
  for (const char* d_head : {"64", "72", "80", "96", "128", "192", "256"}) {
    for (const char* dtype : {"fp16", "bf16"}) {
      const json list = fatune_json({"list", "--family", "flash_sm90", "--space", "tune", "--dhead",
                                     d_head, "--dtype", dtype, "--format", "json"});
      EXPECT_GE(list["kept"].size(), 200U) << d_head << dtype;
    }
  }
}

}  // namespace
}  // namespace fatune::testing_cli
