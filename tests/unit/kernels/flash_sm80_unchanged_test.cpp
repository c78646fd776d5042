// Compares a hash of the machine code of each plain problem. Code for other problems must not
// change it.
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/space.hpp"
#include "unit/kernels/machine_code_golden.hpp"

namespace fatune {
namespace {

constexpr std::size_t kEvery = 9;  // one in nine configurations of the spaces is used

const FileTree& files() {
  static const FileTree tree;
  return tree;
}

const Family& flash_sm80() {
  static const Family loaded = load_family(files(), "flash_sm80");
  return loaded;
}

/// `index` decides whether the problem is aligned or ragged, causal or not, and for which of the
/// two architectures that fatune has measured on.
MachineCodeCase case_of(const Config& config, std::size_t index) {
  const auto value = [&](const char* name) {
    return config.values.at(find_parameter(flash_sm80(), name).value());
  };
  Problem problem{
      16, index % 2 == 0 ? 4096 : 1000, 16, value("d_head"), DType::fp16, index / 2 % 2 == 1};
  problem.dtype = static_cast<DType>(value("dtype"));
  return {config, problem, Arch{index / 4 % 2 == 0 ? 90 : 80, '\0'}};
}

std::vector<MachineCodeCase> plain_cases() {
  std::vector<MachineCodeCase> cases;
  const Binding all{{DType::fp16, DType::bf16}, {64, 128}};
  for (const char* space : {"prog", "tune", "progall"}) {
    const Plan plan = make_plan(flash_sm80(), load_space(files(), flash_sm80(), space), all);
    for (std::size_t i = 0; i < plan.kept.size(); i += kEvery) {
      cases.push_back(case_of(plan.kept[i], cases.size()));
    }
  }
  return cases;
}

TEST(FlashSm80Unchanged, PlainProblemsHaveTheMachineCodeTheyHad) {
  expect_machine_code(files(), flash_sm80(), plain_cases(), "flash_sm80_machine_code.json");
}

}  // namespace
}  // namespace fatune
