#pragma once

#include "core/device_limits.hpp"
#include "engine/evaluator.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Estimates from the family's quantities and the artifact's facts (docs/estimate.md).
class EstimatingEvaluator : public Evaluator {
 public:
  /// `family` must outlive the evaluator.
  EstimatingEvaluator(const Family& family, DeviceLimits limits);

  [[nodiscard]] const DeviceLimits& limits() const override { return limits_; }
  void begin_problem(const Problem& problem, std::optional<double> budget_s, RunLog& log) override;
  [[nodiscard]] std::optional<Outcome> admit(TrialId trial, const Entry& entry,
                                             const Candidate& candidate) override;
  [[nodiscard]] Evaluation finish() override { return {}; }

 private:
  const Family& family_;
  DeviceLimits limits_;
  Problem problem_;
};

}  // namespace fatune
