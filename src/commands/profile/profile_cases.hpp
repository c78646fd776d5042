#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "attention/problem.hpp"
#include "commands/profile/profile_options.hpp"
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

/// Plans the configurations of the options, on their problems. For a stored run, plans the first of
/// each of its rankings instead, on the run's problems that match the options. The baseline is
/// added to every problem that it fits. Throws Error(usage) if nothing is left.
[[nodiscard]] ProfilePlan plan_profile(const ProfileOptions& options);

}  // namespace fatune
