#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "measure/measurer.hpp"
#include "model/statistics.hpp"

namespace fatune {

/// Admits the kernel, takes policy().warmup samples that are thrown away and policy().repeats that
/// count, rechecks it and retires it, as a race does with one candidate. Returns Measured, or the
/// failure.
inline Outcome measure_alone(Measurer& measurer, const CandidateKernel& kernel) {
  constexpr CandidateId kId{1'000'000};  // tests that call the single steps count from 0
  const MeasurePolicy& policy = measurer.policy();
  Admission admission = measurer.admit(kId, kernel);
  if (admission.failure) {
    return *std::move(admission.failure);
  }
  const int repeats = std::max(1, policy.repeats);
  Samples samples = measurer.sample(kId, std::max(0, policy.warmup) + repeats);
  if (samples.failure) {
    return *std::move(samples.failure);
  }
  if (std::optional<Outcome> failure = measurer.recheck(kId)) {
    return *std::move(failure);
  }
  measurer.retire(kId);
  admission.verification.deterministic = samples.deterministic;
  Timing timing =
      summarise({samples.samples_us.end() - repeats, samples.samples_us.end()}, policy.confidence);
  const bool gate_lost = policy.device_gate && !samples.gate_in_use;
  timing.stopped_because = gate_lost ? "fixed count, device gate given up" : "fixed count";
  return Measured{std::move(timing), std::move(admission.verification)};
}

}  // namespace fatune
