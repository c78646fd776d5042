#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/named_value.hpp"
#include "sass/correlation.hpp"
#include "sass/profile.hpp"

namespace fatune {

/// Instructions that a warp executes in the main loop for 10^6 FLOP on the tensor cores: by class,
/// and all together. So kernels with tiles of different sizes can be compared.
struct WorkCounts {
  std::array<double, kOpcodeClasses> classes{};
  double all = 0.0;
};
/// Nothing when the profile has no main loop, or its work is not known or zero.
[[nodiscard]] std::optional<WorkCounts> work_counts(const SassProfile& profile);

/// One configuration as it takes part in the comparison.
struct WorkSample {
  Config config;
  std::vector<NamedValue> parameters;
  WorkCounts counts;
};

/// The effect on one class of changing one parameter, and nothing else.
struct ParameterEffect {
  std::string family;  ///< whose parameter it is
  std::string parameter;
  std::string from;  ///< the smaller value
  std::string to;
  OpcodeClass which = OpcodeClass::unknown;
  std::int64_t pairs = 0;        ///< of configurations that differ in this alone
  double mean_before = 0.0;      ///< instructions for 10^6 FLOP with `from`
  double mean_difference = 0.0;  ///< with `to`, less with `from`
};

/// The greatest mean difference first; classes that never change are left out. Samples may be of
/// several families, each compared with its own.
[[nodiscard]] std::vector<ParameterEffect> parameter_effects(
    const std::vector<WorkSample>& samples);

/// How one class goes with the measured times of a problem.
struct ClassCorrelation {
  std::string what;          ///< a class, or "all"
  std::int64_t configs = 0;  ///< with a time
  RankCorrelation correlation;
};

/// The strongest first; classes whose count is the same everywhere are left out.
/// Precondition: a time for each sample.
[[nodiscard]] std::vector<ClassCorrelation> time_correlations(const std::vector<WorkCounts>& counts,
                                                              const std::vector<double>& times_us,
                                                              double confidence);

}  // namespace fatune
