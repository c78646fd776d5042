#pragma once

#include <string>

#include "app/choice/kernel_choice.hpp"
#include "attention/problem.hpp"
#include "commands/sass/sass_options.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// A configuration whose machine code is analysed, and the problem and device that it is compiled
/// for.
struct SassCase {
  KernelSet kernels;
  Config config;
  Problem problem;
  DeviceLimits limits;
  std::string measured_key;  ///< names the code that a stored run measured; empty: none did

  [[nodiscard]] std::string name() const;  ///< short form
  [[nodiscard]] CompileRequest request() const;
};

/// Returns the configuration that the options name, or the one with the requested rank in a stored
/// run. Throws Error(usage) if it does not parse, if the family cannot build it, if there is no
/// such run or rank, or if several problems of the run fit the options. Precondition: the source is
/// a configuration or a run.
[[nodiscard]] SassCase sass_case(const CodeOptions& options, const CodeSource& source);

}  // namespace fatune
