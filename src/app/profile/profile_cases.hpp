#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "app/profile/profile_options.hpp"
#include "attention/problem.hpp"
#include "core/config.hpp"

namespace fatune {

/// A configuration to be profiled.
struct ProfileCase {
  Config config;
  std::optional<double> sweep_us;  ///< the median that a stored run measured
};

struct ProfileProblem {
  Problem problem;
  std::vector<ProfileCase> cases;
};

/// The configurations that a command profiles.
struct ProfilePlan {
  KernelSet kernels;
  std::vector<ProfileProblem> problems;
  std::optional<Config> baseline;
};

/// The configurations of the options, on their problems; or the first of each ranking of a stored
/// run, on its problems (those of the lengths, head dimensions and types that the options name, if
/// they do). The baseline is among the configurations of every problem that it fits. Error(usage)
/// when nothing is left.
[[nodiscard]] ProfilePlan plan_profile(const ProfileOptions& options);

}  // namespace fatune
