#include "commands/profile/counter_reader.hpp"

#include <utility>

#include "counters/counter_fields.hpp"

namespace fatune {

Attempt run_under_tool(const MeasuringSetup& setup, const CountPlan& plan,
                       const std::vector<CountCase>& cases, const BeforeCase& before) {
  CountingSession session(setup);
  Attempt attempt;
  for (const CountCase& one : cases) {
    if (!before(one.kernel)) {
      break;
    }
    attempt.cases.push_back({{}, session.count(one.kernel, {plan.runs, {}}).failure});
  }
  attempt.whole = session.whole();
  return attempt;
}

std::vector<CountedCase> count_with_cupti(const MeasuringSetup& setup, const CountPlan& plan,
                                          const std::vector<CountCase>& cases,
                                          const BeforeCase& before) {
  const CountRequest request{plan.runs, hardware_metrics(plan.fields, setup.arch.sm)};
  CountingSession session(setup);
  std::vector<CountedCase> results;
  for (const CountCase& one : cases) {
    if (!before(one.kernel)) {
      break;
    }
    Counted counted = session.count(one.kernel, request);
    for (RawCounters& run : counted.runs) {
      run[kRegistersMetric] = one.kernel.artifact->facts.registers_per_thread;
    }
    results.push_back({std::move(counted.runs), std::move(counted.failure)});
  }
  return results;
}

}  // namespace fatune
