#include "measure/measurer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/statistics.hpp"

namespace fatune {
namespace {

// The id of the candidate that measure() admits: no problem has so many.
constexpr CandidateId kMeasuredAlone{std::numeric_limits<std::uint32_t>::max()};

Timing fixed_count_timing(const Samples& samples, const MeasurePolicy& policy) {
  const auto counted = static_cast<std::ptrdiff_t>(std::max(1, policy.repeats));
  Timing timing =
      summarise({samples.samples_us.end() - counted, samples.samples_us.end()}, policy.confidence);
  const bool gate_lost = policy.device_gate && !samples.gate_in_use;
  timing.stopped_because = gate_lost ? "fixed count, device gate given up" : "fixed count";
  return timing;
}

}  // namespace

Counted Measurer::count(CandidateId, const CountRequest&) {
  throw Error(ExitCode::gpu_failure, "this measurer reads no hardware counters");
}

Outcome Measurer::measure(const CandidateKernel& candidate) {
  Admission admission = admit(kMeasuredAlone, candidate);
  if (admission.failure) {
    return *std::move(admission.failure);
  }
  Samples samples =
      sample(kMeasuredAlone, std::max(0, policy_.warmup) + std::max(1, policy_.repeats));
  if (samples.failure) {
    return *std::move(samples.failure);
  }
  if (std::optional<Outcome> failure = recheck(kMeasuredAlone)) {
    return *std::move(failure);
  }
  retire(kMeasuredAlone);
  admission.verification.deterministic = samples.deterministic;
  return Measured{fixed_count_timing(samples, policy_), std::move(admission.verification)};
}

}  // namespace fatune
