// Properties of random configurations: for all values, reading is the inverse of writing, and
// judging them never fails.
#include <gtest/gtest.h>

#include <random>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using fixtures::flash;

class RandomConfigs {
 public:
  explicit RandomConfigs(unsigned seed) : random_(seed) {}

  Config next() {
    Config config{flash().name, {}};
    for (const Parameter& parameter : flash().parameters) {
      config.values.push_back(value(parameter));
    }
    return config;
  }

 private:
  ParamValue value(const Parameter& parameter) {
    const bool any = parameter.type == ParameterType::integer && random_() % 4 == 0;
    return any ? static_cast<ParamValue>(random_() & 0x7fffffffU)
               : parameter.values[random_() % parameter.values.size()];
  }

  std::mt19937 random_;
};

TEST(RandomConfigs, EveryNotationRoundTrips) {
  RandomConfigs configs(1);
  for (int i = 0; i < 2000; ++i) {
    const Config config = configs.next();
    ASSERT_EQ(parse_config(flash(), short_form(flash(), config)), config);
    ASSERT_EQ(parse_config(flash(), kernel_name(flash(), config)), config);
  }
}

TEST(RandomConfigs, WhatIsValidCanBePlannedAndTheRestHasAReason) {
  RandomConfigs configs(2);
  int valid = 0;
  for (int i = 0; i < 2000; ++i) {
    const Config config = configs.next();
    const auto invalid = check_valid(flash(), config);
    if (invalid) {
      ASSERT_FALSE(invalid->rule.empty());
      ASSERT_FALSE(invalid->reason.empty());
      continue;
    }
    ++valid;
    const Problem problem{2, 777, 3, config.values[1], static_cast<DType>(config.values[0])};
    ASSERT_FALSE(check_valid(flash(), config, &problem, &fixtures::h200()));
    const LaunchGeometry launch = launch_geometry({flash(), config, problem, fixtures::h200()});
    ASSERT_EQ(launch.block[0], 32 * config.values[4]);
    ASSERT_GE(launch.grid[0] * config.values[2], problem.seq_len);
    ASSERT_LT((launch.grid[0] - 1) * config.values[2], problem.seq_len);
    const CompileRequest request = compile_request({flash(), config, problem, fixtures::h200()});
    ASSERT_EQ(request.defines.size(), flash().defines.size());
  }
  EXPECT_GT(valid, 20);
}

}  // namespace
}  // namespace fatune
