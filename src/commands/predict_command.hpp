#pragma once

#include <optional>
#include <string>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct PredictOptions {
  TunedOptions tuned;
  KernelOptions kernels;
  ProblemOptions problems;
  std::optional<Arch> arch;        ///< predict for the device that stands for it
  std::optional<std::string> gpu;  ///< part of the name of a GPU with tuned problems
  OutputOptions output;
};

/// Predicts which configuration would be chosen for problems, tuned or not, and how good it is
/// likely to be.
[[nodiscard]] ExitCode predict_choices(const PredictOptions& options);

}  // namespace fatune
