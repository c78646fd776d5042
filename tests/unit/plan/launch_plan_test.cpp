#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "model/flop.hpp"
#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;
using fixtures::flash_config;
using fixtures::h200;
using ::testing::Contains;
using ::testing::Pair;

constexpr const char* kBig = "(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles";

Problem problem_of(std::int64_t seq_len) { return {16, seq_len, 16, 128, DType::fp16, false}; }

CompileRequest request_for(const Problem& problem) {
  return compile_request({flash(), flash_config(kBig), problem, h200()});
}

TEST(CompileRequest, NamesTheInstantiation) {
  const CompileRequest request = request_for(problem_of(1024));
  EXPECT_TRUE(request.entry_is_template);
  EXPECT_EQ(
      request.entry_point,
      "flash_forward_kernel<FlashForwardKernelConfig{5, 128, 128, 64, 4, 1, 1, 1, 2, 2, 2, 0, "
      "0}>");
  EXPECT_EQ(request.label, kBig);
  EXPECT_EQ(request.arch, (Arch{90, 'a'}));
  EXPECT_EQ(request.sources, flash().sources.items[0].value);
}

TEST(CompileRequest, TurnsProblemFactsIntoDefineList) {
  using DefineList = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(request_for(problem_of(1024)).defines, (DefineList{{"FATUNE_CAUSAL", "0"},
                                                               {"FATUNE_GROUP", "0"},
                                                               {"FATUNE_HEADS_FIRST", "0"},
                                                               {"FATUNE_LSE", "0"},
                                                               {"FATUNE_MIN_BLOCKS", "2"},
                                                               {"FATUNE_OTHER_KV_LENGTH", "0"},
                                                               {"FATUNE_PACKED", "0"},
                                                               {"FATUNE_RAGGED_KV", "0"},
                                                               {"FATUNE_RAGGED_Q", "0"},
                                                               {"FATUNE_ROWS_WITHOUT_KEYS", "0"},
                                                               {"FATUNE_ROW_STRIDE", "2048"},
                                                               {"FATUNE_SINKS", "0"},
                                                               {"FATUNE_SOFTCAP", "0"},
                                                               {"FATUNE_WINDOW", "0"}}));
  EXPECT_THAT(request_for(problem_of(1088)).defines, Contains(Pair("FATUNE_RAGGED_Q", "1")));
  EXPECT_THAT(request_for(problem_of(1088)).defines, Contains(Pair("FATUNE_RAGGED_KV", "0")));
  EXPECT_THAT(request_for(problem_of(1000)).defines, Contains(Pair("FATUNE_RAGGED_KV", "1")));
  Problem causal = problem_of(1024);
  causal.causal = true;
  EXPECT_THAT(request_for(causal).defines, Contains(Pair("FATUNE_CAUSAL", "1")));
}

TEST(CompileRequest, IsEqualForProblemsTheCodeDoesNotTellApart) {
  const CompileRequest one = request_for(problem_of(1024));
  Problem other = problem_of(16384);
  other.batch = 4;
  const CompileRequest two = request_for(other);
  EXPECT_EQ(one.defines, two.defines);
  EXPECT_EQ(one.entry_point, two.entry_point);
  EXPECT_EQ(one.options, two.options);
  EXPECT_EQ(one.sources, two.sources);
}

TEST(CompileRequest, LaunchBoundsFollowTheDevice) {
  const auto min_blocks = [](const std::string& config) {
    return find_quantity({flash(), flash_config(config), problem_of(1024), h200()},
                         "min_blocks_per_sm")
        .value();
  };
  EXPECT_EQ(min_blocks(kBig), 2);
  EXPECT_EQ(min_blocks("(FP16, 128, 128, 64, 8): load_2_2_2_tiles"), 1);
  EXPECT_EQ(min_blocks("(FP16, 128, 64, 32, 4): load_2_2_2_tiles"), 3);
  EXPECT_EQ(min_blocks("(FP16, 128, 256, 128, 8): load_2_2_2_tiles"), 1);
}

TEST(LaunchGeometry, CoversTheProblem) {
  const LaunchGeometry launch =
      launch_geometry({flash(), flash_config(kBig), problem_of(4097), h200()});
  EXPECT_EQ(launch.grid, (std::array<std::int64_t, 3>{33, 16, 16}));
  EXPECT_EQ(launch.block, (std::array<std::int64_t, 3>{128, 1, 1}));
  EXPECT_EQ(launch.dynamic_smem_bytes, (128 + 2 * 64) * 128 * 2);
}

TEST(LaunchGeometry, AnImpossibleGridIsTheFamilysMistake) {
  nlohmann::json changed = fixtures::toy_json();
  changed["launch"]["grid"][1] = "heads * 100000";
  const Family family = fixtures::load_changed(changed);
  const Config config{"toy_attention", {5, 128, 32, 1}};
  fixtures::expect_error(
      [&] {
        (void)launch_geometry({family, config, problem_of(64), h200()});
      },
      ExitCode::bad_file, {"/launch/grid/1", "\"heads * 100000\" gives 1600000", "1 to 65535"});
  changed = fixtures::toy_json();
  changed["launch"]["block"][0] = "seq_len / 3";
  fixtures::expect_error(
      [&] {
        (void)launch_geometry({fixtures::load_changed(changed), config, problem_of(64), h200()});
      },
      ExitCode::bad_file, {"/launch/block/0", "is not a whole number", "seq_len = 64"});
}

using DefineList = std::vector<std::pair<std::string, std::string>>;

CompileRequest toy_request(const nlohmann::json& changed, std::int64_t block_rows = 32) {
  const Config config{"toy_attention", {5, 128, block_rows, 1}};
  return compile_request({fixtures::load_changed(changed), config, problem_of(64), h200()});
}

TEST(CompileRequest, DefinesAreNumbersTextOrBare) {
  nlohmann::json changed = fixtures::toy_json();
  changed["defines"] = {
      {"A", "BLOCK_ROWS * 2"},
      {"B", {{"string", "cutlass::{dtype}_t, {BLOCK_ROWS}"}}},
      {"C", nullptr},
      {"D", {{{"when", "BLOCK_ROWS == 64"}, {"value", "7"}}}},
      {"E",
       {{{"when", "BLOCK_ROWS == 64"}, {"value", {{"string", "wide"}}}}, {{"value", nullptr}}}}};
  DefineList defines = toy_request(changed).defines;
  defines.resize(4);
  EXPECT_EQ(defines,
            (DefineList{{"A", "64"}, {"B", "cutlass::FP16_t, 32"}, {"C", "1"}, {"E", "1"}}));
  defines = toy_request(changed, 64).defines;
  defines.resize(5);
  EXPECT_EQ(defines.at(3), (DefineList::value_type{"D", "7"}));
  EXPECT_EQ(defines.at(4), (DefineList::value_type{"E", "wide"}));
}

TEST(CompileRequest, EntrySourceAndOptionsMayBeChosen) {
  const std::string long_name(200, 'k');
  nlohmann::json changed = fixtures::toy_json();
  const nlohmann::json wide{{"kind", "extern_c"}, {"name", long_name}, {"parameter_defines", "X_"}};
  changed["entry"] = {{{"when", "BLOCK_ROWS == 64"}, {"value", wide}},
                      {{"value", fixtures::toy_json()["entry"]}}};
  changed["options"] = {"--std=c++17",
                        {{"when", "BLOCK_ROWS == 64"}, {"value", "--use_fast_math"}}};
  changed["source"] = {{{"when", "UNROLL == 1"}, {"value", "toy_attention.cu"}}};
  const CompileRequest narrow = toy_request(changed);
  EXPECT_EQ(narrow.entry_point, "toy_attention");
  EXPECT_THAT(narrow.options, ::testing::ElementsAre("--std=c++17"));
  EXPECT_EQ(narrow.sources->main.name, "toy_attention/toy_attention.cu");
  const CompileRequest wider = toy_request(changed, 64);
  EXPECT_EQ(wider.entry_point, long_name);
  EXPECT_THAT(wider.options, ::testing::ElementsAre("--std=c++17", "--use_fast_math"));
  EXPECT_EQ(wider.defines.back().first, "X_UNROLL");
  EXPECT_THAT(function_names(fixtures::load_changed(changed)),
              ::testing::ElementsAre(long_name, "toy_attention"));
}

TEST(CompileRequest, AnEntryWithoutAPrefixHasNoParametersAsDefines) {
  nlohmann::json changed = fixtures::toy_json();
  changed["entry"].erase("parameter_defines");
  changed["defines"] = {{"ROWS", "BLOCK_ROWS"}};
  EXPECT_EQ(toy_request(changed).defines, (DefineList{{"ROWS", "32"}}));
}

TEST(CompileRequest, AChoiceThatFitsNothingSaysSo) {
  nlohmann::json changed = fixtures::toy_json();
  changed["source"] = {{{"when", "UNROLL == 2"}, {"value", "toy_attention.cu"}}};
  fixtures::expect_error([&] { (void)toy_request(changed); }, ExitCode::bad_file,
                         {"family.json: /source", "no \"when\" holds", "UNROLL == 2"});
}

TEST(Limits, NameTheLimitAndTheFigures) {
  const Config big = flash_config(kBig);
  EXPECT_FALSE(check_limits({flash(), big, problem_of(1024), h200()}));
  DeviceLimits small = h200();
  small.smem_per_block_optin_bytes = 65535;
  EXPECT_EQ(check_limits({flash(), big, problem_of(1024), small})->limit,
            "needs 65536 bytes of shared memory per block, the device allows 65535");
  small = h200();
  small.max_threads_per_block = 64;
  EXPECT_EQ(check_limits({flash(), big, problem_of(1024), small})->limit,
            "needs 128 threads per block, the device allows 64");
  small = h200();
  small.arch = Arch{75, '\0'};
  EXPECT_EQ(check_limits({flash(), big, problem_of(1024), small})->limit,
            "flash_sm80 needs sm_80 or newer, the device is sm_75");
}

TEST(Limits, ASuffixedArchitectureIsThatOneAlone) {
  nlohmann::json changed = fixtures::toy_json();
  changed["min_arch"] = "sm_90a";
  const Family family = fixtures::load_changed(changed);
  const Config config{"toy_attention", {5, 128, 32, 1}};
  EXPECT_FALSE(check_limits({family, config, problem_of(64), h200()}));
  DeviceLimits newer = h200();
  newer.arch = Arch{100, 'a'};
  EXPECT_EQ(check_limits({family, config, problem_of(64), newer})->limit,
            "toy_attention needs sm_90a, the device is sm_100a");
  newer.arch = Arch{90, '\0'};
  EXPECT_EQ(check_limits({family, config, problem_of(64), newer})->limit,
            "toy_attention needs sm_90a, the device is sm_90");
}

TEST(Quantities, CountStepsAndFlop) {
  const auto value = [](const std::string& config, const Problem& problem, const char* name) {
    return find_quantity({flash(), flash_config(config), problem, h200()}, name).value();
  };
  const Problem problem = problem_of(1024);
  const double per_step = 4.0 * 128 * 64 * 128 + 128.0 * (4 * 64 + 128 + 4);
  EXPECT_EQ(value(kBig, problem, "total_flop"),
            16.0 * 16 * (1024 / 128) * (per_step * (1024 / 64) + 128.0 * 128));
  EXPECT_EQ(value(kBig, problem, "smem_bytes"), 65536);
  EXPECT_EQ(value(kBig, problem, "threads"), 128);
  EXPECT_EQ(value(kBig, problem, "blocks_per_sm"), 2);
  EXPECT_EQ(value("(FP16, 128, 128, 128, 8): load_2_2_2_tiles", problem, "blocks_per_sm"), 1);
  EXPECT_EQ(value("(FP16, 128, 256, 128, 8): load_2_2_2_tiles", problem, "smem_bytes"), 131072);
}

/// Counts the tiles of b_c keys in which the queries [first, first + b_r) see a key.
std::int64_t tiles_of_block(const Problem& problem, std::int64_t first, std::int64_t b_r,
                            std::int64_t b_c) {
  std::set<std::int64_t> tiles;
  for (std::int64_t row = first; row < std::min(first + b_r, problem.seq_len); ++row) {
    const KeyRange keys = visible_keys(mask_of(problem, sequences_of(problem).front()), row);
    for (std::int64_t tile = keys.first / b_c; keys.size() > 0 && tile * b_c < keys.end; ++tile) {
      tiles.insert(tile);
    }
  }
  return static_cast<std::int64_t>(tiles.size());
}

/// Counts the inner steps of a head, block by block.
double counted_steps(const Problem& problem, std::int64_t b_r, std::int64_t b_c) {
  std::int64_t steps = 0;
  for (std::int64_t first = 0; first < problem.seq_len; first += b_r) {
    steps += tiles_of_block(problem, first, b_r, b_c);
  }
  return static_cast<double>(steps);
}

/// Compares the steps for all shapes of tiles.
void expect_counted_steps(const Problem& problem) {
  for (const std::int64_t b_r : {64, 128, 256}) {
    for (const std::int64_t b_c : {32, 64, 128}) {
      const Config config{"flash_sm80", {5, 128, b_r, b_c, 4, 1, 1, 1, 2, 2, 2, 0, 0}};
      EXPECT_EQ(find_quantity({flash(), config, problem, h200()}, "kv_steps"),
                counted_steps(problem, b_r, b_c))
          << describe(problem) << ", B_r " << b_r << ", B_c " << b_c;
    }
  }
}

TEST(Quantities, StepsAreTheTilesThatABlockSees) {
  for (const std::int64_t seq_len : {1, 64, 65, 500}) {
    for (const std::int64_t seq_len_kv : {1, 64, 333, 512}) {
      for (const std::int64_t window : {0, 1, 2, 64, 100, 1000}) {
        Problem problem = problem_of(seq_len);
        problem.seq_len_kv = seq_len_kv;
        problem.window = window;
        expect_counted_steps(problem);
        problem.causal = true;
        expect_counted_steps(problem);
      }
    }
  }
}

TEST(Quantities, WhatTheFamilyDoesNotDeclareIsAbsent) {
  EXPECT_FALSE(find_quantity({flash(), flash_config(kBig), problem_of(64), h200()}, "tma_boxes"));
}

TEST(Quantities, BankConflictsCountAsTraffic) {
  const Problem problem = problem_of(1024);
  const auto traffic = [&](const char* config) {
    return find_quantity({flash(), flash_config(config), problem, h200()}, "smem_traffic_bytes")
        .value();
  };
  EXPECT_GT(traffic("(FP16, 128, 64, 64, 4): load_2_2_2_tiles"),
            5.0 * traffic("(FP16, 128, 64, 64, 4): swizzled+load_2_2_2_tiles"));
  EXPECT_GT(traffic("(FP16, 128, 64, 64, 4): swizzled+load_2_2_2_tiles"),
            traffic("(FP16, 128, 64, 64, 4): swizzled+load_0_2_2_tiles"));
}

}  // namespace
}  // namespace fatune
