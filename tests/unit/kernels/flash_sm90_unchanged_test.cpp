// Compares a hash of the machine code of problems of all kinds whose rows are whole panels, the
// same for Q, K and V. Code for other head dimensions and kinds of problems must not change it.
#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/space.hpp"
#include "unit/kernels/machine_code_golden.hpp"

namespace fatune {
namespace {

constexpr std::size_t kEveryHopper = 101;  // one in so many configurations of the space is used

/// `index` decides whether keys are aligned or ragged, the mask, and the log-sum-exp.
MachineCodeCase hopper_case(const Family& family, const Config& config, std::size_t index) {
  const auto value = [&](const char* name) {
    return config.values.at(find_parameter(family, name).value());
  };
  Problem problem{16, index % 2 == 0 ? 4096 : 1000, 16, value("d_head"), DType::fp16, false};
  problem.dtype = static_cast<DType>(value("dtype"));
  problem.causal = index % 3 == 1;
  problem.window = index % 6 == 5 ? 256 : 0;
  problem.lse = index % 5 == 2;
  return {config, problem, Arch{90, 'a'}};
}

std::vector<MachineCodeCase> hopper_cases(const FileTree& files, const Family& family) {
  std::vector<MachineCodeCase> cases;
  const Binding whole_panels{{DType::fp16, DType::bf16}, {64, 128, 256}};
  for (const auto& [space, every] :
       {std::pair{"hopper_ci", std::size_t{1}}, std::pair{"hopper", kEveryHopper}}) {
    const Plan plan = make_plan(family, load_space(files, family, space), whole_panels);
    for (std::size_t i = 0; i < plan.kept.size(); i += every) {
      cases.push_back(hopper_case(family, plan.kept[i], cases.size()));
    }
  }
  return cases;
}

TEST(FlashSm90Unchanged, WholePanelsHaveTheMachineCodeTheyHad) {
  const FileTree files;
  const Family family = load_family(files, "flash_sm90");
  expect_machine_code(files, family, hopper_cases(files, family), "flash_sm90_machine_code.json");
}

}  // namespace
}  // namespace fatune
