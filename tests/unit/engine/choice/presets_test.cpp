#include "engine/choice/problems.hpp"

#include <set>

#include <gtest/gtest.h>

namespace fatune {
namespace {

Problem problem_of(const ProblemPreset& preset) {
  Problem problem{1, 512, preset.heads, preset.d_head, preset.dtype, preset.causal};
  for (const auto& [detail, value] : preset.details) {
    set_detail(*detail, problem, value);
  }
  return problem;
}

TEST(Presets, EachHasANameOfItsOwnAndIsAProblem) {
  std::set<std::string> names;
  for (const ProblemPreset& preset : load_presets()) {
    EXPECT_NO_THROW(check_problem(problem_of(preset))) << preset.name;
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
  }
}

TEST(Presets, EachDetailThatIsSetIsUnusual) {
  for (const ProblemPreset& preset : load_presets()) {
    for (const auto& [detail, value] : preset.details) {
      EXPECT_TRUE(is_unusual(*detail, problem_of(preset))) << preset.name << " " << detail->name;
    }
  }
}

}  // namespace
}  // namespace fatune
