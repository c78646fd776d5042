#include "choose/library.hpp"

#include <gtest/gtest.h>

#include <map>

#include "choose/tuned_table.hpp"
#include "gpu/compiler.hpp"
#include "plan/planner.hpp"
#include "unit/choose/sample_library.hpp"

namespace fatune {
namespace {

TEST(KernelKey, IsTheSameWhereTheMachineCodeIs) {
  const FamilySet families = samples::library_families();
  const TunedTable table = samples::library_table(families);
  const DeviceLimits device = samples::h200();
  const RuntimeTable runtime_table(table);
  std::mt19937 engine(11);
  std::size_t shared = 0;
  for (const Config* config : runtime_table.configs()) {
    const Family& family = families.of(*config);
    std::map<std::vector<double>, std::string> artifacts;
    for (int i = 0; i < 60; ++i) {
      const Problem problem = samples::any_problem(engine);
      const std::string artifact =
          artifact_key(compile_request({family, *config, problem, device}));
      const auto [known, is_new] =
          artifacts.emplace(kernel_key(family, *config, problem, device), artifact);
      EXPECT_EQ(known->second, artifact) << describe(problem);
      shared += is_new ? 0 : 1;
    }
  }
  EXPECT_GT(shared, 100U);
}

}  // namespace
}  // namespace fatune
