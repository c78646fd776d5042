#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "counters/counter_field.hpp"
#include "engine/counting_session.hpp"

namespace fatune {

/// A configuration that is ready to be counted.
struct CountCase {
  CandidateKernel kernel;
  std::function<bool(const std::string&)> is_kernel;  ///< whether a profiler's name is its kernel's
};

/// The result for one case.
struct CountedCase {
  std::vector<RawCounters> runs;
  std::optional<Outcome> failure;
};

/// The metrics to count, and how often.
struct CountPlan {
  int runs = 1;
  std::vector<CounterField> fields;
  bool all_sections = false;  ///< all sections of a profiler's report, whatever the fields
};

/// Called before each configuration. If it returns false, counting ends without the others.
using BeforeCase = std::function<bool(const CandidateKernel&)>;

/// The result of running the worker under a tool.
struct Attempt {
  std::vector<CountedCase> cases;  ///< they have no values: the tool has them
  bool whole = false;              ///< no worker died, so nothing is lost
};

/// Runs the cases with a tool in front of the worker (setup.launcher), each run in a profiler range
/// of its own. On return, the tool has ended and written its report. Throws as CountingSession.
[[nodiscard]] Attempt run_under_tool(const MeasuringSetup& setup, const CountPlan& plan,
                                     const std::vector<CountCase>& cases, const BeforeCase& before);

/// Counts through CUPTI in the worker. Returns one result for each case, or fewer if `before` ended
/// it. Throws as CountingSession.
[[nodiscard]] std::vector<CountedCase> count_with_cupti(const MeasuringSetup& setup,
                                                        const CountPlan& plan,
                                                        const std::vector<CountCase>& cases,
                                                        const BeforeCase& before);

}  // namespace fatune
