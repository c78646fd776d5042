// What the tuning spaces of flash_decode_sm80 leave on a problem and a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "model/device_limits.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

/// Decoding with 32 heads and 8 heads of K and V.
Problem few_queries(std::int64_t batch, std::int64_t queries, std::int64_t keys,
                    std::int64_t d_head) {
  Problem problem{batch, queries, 32, d_head, DType::bf16};
  problem.kv_heads = 8;
  problem.seq_len_kv = keys;
  return problem;
}

class DecodeSm80Space : public testing::Test {
 protected:
  /// The configurations that a sweep would compile.
  std::set<std::string> left(const char* space, Arch arch, const Problem& problem) const {
    const DeviceLimits limits = load_device_limits(tree_, arch);
    const Plan plan = make_plan(family_, load_space(tree_, family_, space));
    std::set<std::string> configs;
    for (const Config& config : plan.kept) {
      if (!check_valid(family_, config, &problem, &limits) &&
          !check_limits({family_, config, problem, limits}) &&
          !prune_on({family_, config, problem, limits}, plan)) {
        configs.insert(short_form(family_, config));
      }
    }
    return configs;
  }

  const FileTree tree_;
  const Family family_ = load_family(tree_, "flash_decode_sm80");
};

constexpr Arch kAmpere{80};

TEST_F(DecodeSm80Space, HasFewConfigurationsOfEachProblem) {
  const auto large = left("tune", kAmpere, few_queries(64, 1, 8192, 128));
  EXPECT_TRUE(large.contains("(BF16, 128, 16, 64, 2, 4, 2): parts_8192"));
  EXPECT_LT(large.size(), 40U);
  const auto speculated = left("tune", kAmpere, few_queries(8, 8, 8192, 128));
  EXPECT_TRUE(speculated.contains("(BF16, 128, 32, 64, 2, 4, 1): parts_2048"));
  EXPECT_LT(speculated.size(), 80U);
  const auto many_rows = left("tune", kAmpere, few_queries(8, 64, 8192, 128));
  EXPECT_TRUE(many_rows.contains("(BF16, 128, 64, 64, 2, 4, 1): parts_8192"));
  EXPECT_LT(many_rows.size(), 40U);
}

TEST_F(DecodeSm80Space, HasSomeWhereSharedMemoryIsSmall) {
  for (const int sm : {86, 89, 120}) {
    for (const std::int64_t d_head : {64, 128, 256}) {
      for (const std::int64_t queries : {1, 8, 64}) {
        EXPECT_FALSE(left("tune", Arch{sm}, few_queries(16, queries, 4096, d_head)).empty())
            << "sm_" << sm << ", d " << d_head << ", " << queries << " queries";
      }
    }
  }
}

TEST_F(DecodeSm80Space, LeavesDevicesThatHaveFlashDecodeToIt) {
  const Problem problem = few_queries(16, 1, 4096, 128);
  EXPECT_TRUE(left("tune", Arch{90, 'a'}, problem).empty());
  EXPECT_FALSE(left("tune_wide", Arch{90, 'a'}, problem).empty());
}

TEST_F(DecodeSm80Space, HasAWideOneWithAllOfTheUsualOneAndManyMore) {
  for (const Problem& problem : {few_queries(1, 1, 1024, 64), few_queries(64, 1, 8192, 128),
                                 few_queries(8, 8, 65536, 256)}) {
    const auto usual = left("tune", kAmpere, problem);
    const auto wide = left("tune_wide", kAmpere, problem);
    EXPECT_TRUE(std::ranges::includes(wide, usual)) << describe(problem);
    EXPECT_GE(wide.size(), 2 * usual.size()) << describe(problem);
  }
}

}  // namespace
}  // namespace fatune
