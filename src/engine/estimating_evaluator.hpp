#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/emulating_verifier.hpp"
#include "engine/evaluator.hpp"
#include "model/device_limits.hpp"
#include "plan/family.hpp"

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
/// are then multiplied by the median factor between both ways, so that they compare.
class EstimatingEvaluator : public Evaluator {
 public:
  /// `families` must outlive the evaluator.
  EstimatingEvaluator(const FamilySet& families, DeviceLimits limits, const SmRates& rates,
                      std::optional<EstimateVerification> verification = std::nullopt);

  [[nodiscard]] const DeviceLimits& limits() const override { return limits_; }
  void begin_problem(const Problem& problem, const RaceTerms& terms, RunLog& log) override;
  [[nodiscard]] std::optional<Outcome> admit(CandidateId id, const Result& result,
                                             const CandidateKernel& kernel) override;
  [[nodiscard]] bool work() override;
  [[nodiscard]] bool tells_when_done(CandidateId id) const override { return open_.contains(id); }
  [[nodiscard]] std::vector<CandidateOutcome> known_so_far() const override;
  [[nodiscard]] Evaluation finish() override;

 private:
  /// A candidate, and its verdict once that is known.
  struct Open {
    std::string key;  ///< the verdict's key
    Result result;
    LaunchGeometry geometry;
    bool uses_tensor_cores = true;
    std::optional<EmulationVerdict> verdict;
    std::optional<CountedWork> work;  ///< work of the whole problem, if emulation could count it
  };
  using Factors = std::map<std::string, double>;  ///< keyed by family

  [[nodiscard]] std::optional<CountedWork> counted_work(const Open& candidate) const;
  /// Whether the estimate is made from the work that emulation counted.
  [[nodiscard]] bool is_counted(const Open& candidate) const {
    return candidate.work && !families_.of(candidate.result.config).estimate.model;
  }
  [[nodiscard]] Estimated estimate_of(const Open& candidate, bool counted) const;
  [[nodiscard]] Factors factors_of_counting() const;
  [[nodiscard]] Outcome outcome_of(const Open& candidate, const Factors& factors) const;
  void collect();

  const FamilySet& families_;
  DeviceLimits limits_;
  SmRates rates_;
  Problem problem_;
  std::function<void()> on_done_;
  std::unique_ptr<EmulatingVerifier> verifier_;  ///< null: nothing is verified
  std::map<CandidateId, Open> open_;             ///< candidates without a verdict
  std::map<CandidateId, Open> judged_;           ///< candidates with a verdict
};

}  // namespace fatune
