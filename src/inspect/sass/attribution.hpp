#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inspect/sass/profile.hpp"
#include "model/config.hpp"

namespace fatune {

/// The rank correlation of two quantities, from -1 to 1, with its confidence interval.
struct RankCorrelation {
  double spearman = 0.0;
  double low = -1.0;
  double high = 1.0;

  /// The share of the variance of one side's ranks that the other side's ranks explain, in percent.
  [[nodiscard]] double share_percent() const { return 100.0 * spearman * spearman; }
};

/// Spearman's rank correlation; equal values share their mean rank. The interval uses Fisher's z
/// with the variance (1 + r^2/2) / (n - 3). Returns nothing for fewer than 5 points, or if one side
/// is constant. Source: D. G. Bonett and T. A. Wright, Sample size requirements for estimating
/// Pearson, Kendall and Spearman correlations, Psychometrika 65 (2000). Precondition: `x` and `y`
/// have the same length and only finite values; 0 < confidence < 1.
[[nodiscard]] std::optional<RankCorrelation> rank_correlation(std::span<const double> x,
                                                              std::span<const double> y,
                                                              double confidence);

/// Instructions that a warp executes in the main loop for 10^6 FLOP on the tensor cores, by class
/// and in total. They make kernels with different tile sizes comparable.
struct WorkCounts {
  std::array<double, kOpcodeClasses> classes{};
  double all = 0.0;
};
/// Returns nothing if the profile has no main loop, or if its work is not known or zero.
[[nodiscard]] std::optional<WorkCounts> work_counts(const SassProfile& profile);

/// One configuration in the comparison.
struct WorkSample {
  Config config;
  std::vector<NamedValue> parameters;
  WorkCounts counts;
};

/// The effect on one class of changing only one parameter.
struct ParameterEffect {
  std::string family;  ///< the family that the parameter belongs to
  std::string parameter;
  std::string from;  ///< the smaller value
  std::string to;
  OpcodeClass which = OpcodeClass::unknown;
  std::int64_t pairs = 0;        ///< pairs of configurations that differ only in this
  double mean_before = 0.0;      ///< instructions for 10^6 FLOP with `from`
  double mean_difference = 0.0;  ///< the time with `to` minus the time with `from`
};

/// The effects, with the greatest mean difference first. Classes that never change are left out.
/// Samples may be of several families; each is compared only with its own family.
[[nodiscard]] std::vector<ParameterEffect> parameter_effects(
    const std::vector<WorkSample>& samples);

/// The correlation of one class with the measured times of a problem.
struct ClassCorrelation {
  std::string what;          ///< a class, or "all"
  std::int64_t configs = 0;  ///< configurations with a time
  RankCorrelation correlation;
};

/// The correlations, the strongest first. Classes whose count is the same everywhere are left out.
/// Precondition: a time for each sample.
[[nodiscard]] std::vector<ClassCorrelation> time_correlations(const std::vector<WorkCounts>& counts,
                                                              const std::vector<double>& times_us,
                                                              double confidence);

}  // namespace fatune
