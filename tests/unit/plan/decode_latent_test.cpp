// What flash_decode is launched with if V is columns of K, and which families take such problems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

constexpr const char* kLatentConfig = "(BF16, 576, 64, 64, 2, 1): parts_512";

Problem latent_problem(std::int64_t heads) {
  Problem problem{3, 1, heads, 576, DType::bf16, false};
  problem.kv_heads = 1;
  problem.d_head_v = 512;
  problem.seq_len_kv = 1000;
  problem.latent = true;
  return problem;
}

const Family& latent_family() {
  static const Family family = load_family(FileTree{}, "flash_decode");
  return family;
}

std::string rule_of(const char* config, const Problem& problem) {
  const auto invalid =
      check_valid(latent_family(), parse_config(latent_family(), config), &problem);
  return invalid ? invalid->rule : "";
}

const TensorMapPiece& map_of(const LaunchGeometry& launch, std::size_t argument) {
  return launch.arguments.list.at(argument).tensor_maps.at(0);
}

TEST(LatentFamilies, AreThoseThatAreToldOfIt) {
  const ToldProperty& told = *std::ranges::find(kToldProperties, "latent", &ToldProperty::detail);
  EXPECT_TRUE(takes(latent_family().arguments, told));
  for (const char* name : {"flash_decode_sm80", "flash_sm80", "flash_sm90"}) {
    const Family family = load_family(FileTree{}, name);
    EXPECT_FALSE(takes(family.arguments, told)) << name;
  }
}

TEST(LatentFlashDecode, HasTwoBoxesOfATileAndOneCopyOfTheKeys) {
  for (const std::int64_t page_size : {0, 16, 64}) {
    Problem problem = latent_problem(64);
    problem.page_size = page_size;
    const LaunchGeometry launch = launch_geometry(
        {latent_family(), parse_config(latent_family(), kLatentConfig), problem, fixtures::h200()});
    EXPECT_EQ(launch.dynamic_smem_bytes, 231'792);
    for (const std::size_t argument : {1U, 2U}) {
      const TensorMapPiece& map = map_of(launch, argument);
      EXPECT_EQ(map.sizes.at(2), 9) << "panels of 64 columns";
      EXPECT_EQ(map.strides_bytes.at(0), 576 * 2);
      const std::int64_t panels = page_size == 16 ? 1 : argument == 1 ? 4 : 5;
      EXPECT_EQ(map.box.at(2), panels);
    }
  }
}

TEST(LatentFlashDecode, HasClustersOfTwoBlocksForAnEvenNumberOfTiles) {
  for (const std::int64_t heads : {64, 128, 192}) {
    const LaunchGeometry launch =
        launch_geometry({latent_family(), parse_config(latent_family(), kLatentConfig),
                         latent_problem(heads), fixtures::h200()});
    const std::int64_t cluster = heads == 128 ? 2 : 1;
    EXPECT_EQ(launch.cluster.at(0), cluster) << heads;
    EXPECT_EQ(launch.grid.at(0) % cluster, 0);
    EXPECT_EQ(map_of(launch, 1).box.at(2), 4 / cluster);
    EXPECT_EQ(map_of(launch, 2).box.at(2), cluster == 2 ? 3 : 5);
  }
}

TEST(LatentFlashDecode, AddsUpTwoPartsInClustersIfAllPartsRunAtTheSameTime) {
  struct Case {
    const char* what;
    const char* config;
    std::int64_t batch, heads;
    bool can_merge, merges;
  };
  const std::string tile = "(BF16, 576, 64, 64, 2, 1): parts_";
  for (const Case& of : {Case{"two parts", "512+shared_sums", 3, 64, true, true},
                         {"three tiles of rows", "512+shared_sums", 3, 192, true, true},
                         {"as many blocks as SMs", "512+shared_sums", 66, 16, true, true},
                         {"more blocks than SMs", "512+shared_sums", 67, 16, true, false},
                         {"four parts", "256+shared_sums", 3, 64, true, false},
                         {"one part", "1024+shared_sums", 3, 64, true, false},
                         {"sums not shared", "512", 3, 64, false, false},
                         {"two tiles of rows", "512+shared_sums", 3, 128, false, false}}) {
    Problem problem = latent_problem(of.heads);
    problem.batch = of.batch;
    const Config config = parse_config(latent_family(), tile + of.config);
    const ConfigCase one{latent_family(), config, problem, fixtures::h200()};
    EXPECT_EQ(find_quantity(one, "merging"), of.merges ? 2.0 : 1.0) << of.what;
    const LaunchGeometry launch = launch_geometry(one);
    if (of.merges) {
      EXPECT_EQ(launch.cluster.at(0), 2) << of.what;
      EXPECT_EQ(launch.grid.at(0), 2 * of.batch * (of.heads == 192 ? 3 : 1)) << of.what;
      EXPECT_EQ(launch.arguments.buffers.at(0).bytes, 16) << "no sums go through global memory";
    }
    EXPECT_EQ(std::ranges::count(compile_request(one).defines,
                                 std::pair<std::string, std::string>{"FATUNE_MERGE_SUMS", "1"}),
              of.can_merge ? 1 : 0)
        << of.what;
  }
}

TEST(LatentFlashDecode, LoadsTheHeadsOfATileByABoxIfTilesHaveWholeQueriesOrQueriesWholeTiles) {
  const auto box_of = [](std::int64_t heads) {
    const LaunchGeometry launch =
        launch_geometry({latent_family(), parse_config(latent_family(), kLatentConfig),
                         latent_problem(heads), fixtures::h200()});
    return map_of(launch, 0).box;
  };
  EXPECT_THAT(box_of(16), ElementsAre(64, 16, 1, 1, 1));
  EXPECT_THAT(box_of(64), ElementsAre(64, 64, 1, 1, 1));
  EXPECT_THAT(box_of(128), ElementsAre(64, 64, 1, 1, 1));
}

TEST(LatentFlashDecode, HasDimensionsAndTilesOfItsOwn) {
  EXPECT_EQ(rule_of(kLatentConfig, latent_problem(64)), "");
  Problem other = latent_problem(64);
  other.latent = false;
  EXPECT_EQ(rule_of(kLatentConfig, other), "one-head-dimension");
  other.d_head_v = 576;
  EXPECT_EQ(rule_of(kLatentConfig, other), "latent-dimensions");
  other = latent_problem(64);
  other.d_head_v = 256;
  EXPECT_EQ(rule_of(kLatentConfig, other), "latent-dimensions");
  EXPECT_EQ(rule_of("(BF16, 576, 128, 64, 2, 1): parts_512", latent_problem(64)), "latent-tiles");
  EXPECT_EQ(rule_of("(BF16, 576, 64, 64, 1, 1): parts_512", latent_problem(64)), "latent-tiles");
}

TEST(LatentFlashDecode, IsWhatProblemsOfItsConfigurationsAre) {
  const Config latent = parse_config(latent_family(), kLatentConfig);
  EXPECT_TRUE(usual_latent(latent_family(), latent));
  EXPECT_EQ(usual_d_head_v(latent_family(), latent), 512);
  const Config plain = parse_config(latent_family(), "(BF16, 128, 8, 64, 2, 1): parts_512");
  EXPECT_FALSE(usual_latent(latent_family(), plain));
  EXPECT_EQ(usual_d_head_v(latent_family(), plain), 128);
}

}  // namespace
}  // namespace fatune
