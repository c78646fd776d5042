#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/emulating_verifier.hpp"
#include "engine/evaluator.hpp"

namespace fatune {

/// The verification of an estimate's candidates, and the callback for each finished one.
struct EstimateVerification {
  EmulationSetup emulation;
  std::function<void()> on_done;
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
