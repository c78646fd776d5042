#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/evaluator.hpp"
#include "gpu/cubin_cache.hpp"
#include "plan/family.hpp"

namespace fatune {

/// How an estimate's candidates are verified.
struct EstimateVerification {
  int jobs = 1;
  std::uint64_t seed = 1;  ///< seeds inputs and schedules
  /// Keeps machine code and verdicts. May be null; must outlive the evaluator.
  CubinCache* cache = nullptr;
  /// Is told of each verdict and the seconds of CPU time that it took. Any thread may call it.
  std::function<void(double)> on_verdict = [](double) {};
  std::function<void()> on_done;  ///< is told of each finished candidate
};

/// Estimates times from the family's model or quantities and the artifact's facts
/// (docs/estimate.md). With a verification it also emulates each candidate, in parallel with the
/// compilations. Wrong or flagged candidates get no estimate. Those whose work was counted are
/// estimated from that, unless the family has a model. The estimates of others of the same family
/// are then multiplied by the median factor between both ways, so that they compare. `families`
/// must outlive the evaluator.
[[nodiscard]] std::unique_ptr<Evaluator> make_estimating_evaluator(
    const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
    const std::optional<EstimateVerification>& verification);

}  // namespace fatune
