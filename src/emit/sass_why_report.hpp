#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/coverage.hpp"
#include "emit/document/document.hpp"
#include "sass/attribution.hpp"

namespace fatune {

/// How instruction counts correlate with the measured times of one problem of a run.
struct WhyProblem {
  std::string problem;
  std::vector<ClassCorrelation> correlations;
};

/// The report on the machine code of a space's configurations.
struct SassWhyReport {
  std::string family;
  std::string space;   ///< empty: the configurations of a run
  std::string target;  ///< "sm_90"
  std::optional<std::int64_t> run;
  std::string device;         ///< the GPU of the run; empty: there is no run
  bool measured = true;       ///< false: the run's times are estimates
  double confidence = 0.95;   ///< confidence of the intervals
  Coverage coverage;          ///< counts each configuration once for each problem of a run
  std::int64_t left_out = 0;  ///< how many did not compile, or have unknown work
  /// Kernels of the run with other code than compiled now (another compiler or kernel source).
  std::int64_t other_code = 0;
  struct Sample {
    std::string short_form;
    WorkCounts counts;
  };
  std::vector<Sample> samples;
  std::vector<ParameterEffect> effects;
  std::vector<WhyProblem> problems;
};

[[nodiscard]] Fields<ParameterEffect> effect_fields();
[[nodiscard]] Fields<ClassCorrelation> correlation_fields();

/// Tables show the first `top` effects (0: all). CSV has the counts of each configuration. JSON
/// follows configs/schema/sass_why.schema.json.
[[nodiscard]] Document sass_why_document(const SassWhyReport& report, std::size_t top);

}  // namespace fatune
