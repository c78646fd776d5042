#pragma once

#include "app/evaluator.hpp"
#include "core/device_limits.hpp"
#include "plan/family.hpp"
#include "rank/estimate.hpp"

namespace fatune {

/// Estimates from the family's quantities and the artifact's facts (docs/estimate.md).
class EstimatingEvaluator : public Evaluator {
 public:
  /// `family` must outlive the evaluator.
  EstimatingEvaluator(const Family& family, DeviceLimits limits);

  [[nodiscard]] bool measures() const noexcept override { return false; }
  void begin_problem(const Problem& problem) override { problem_ = problem; }
  [[nodiscard]] Outcome evaluate(const Entry& entry, const Candidate& candidate) override;

 private:
  [[nodiscard]] double quantity_or(const Config& config, const char* name, double otherwise) const;
  [[nodiscard]] KernelWork work_of(const Entry& entry, const LaunchGeometry& geometry) const;

  const Family& family_;
  DeviceLimits limits_;
  Problem problem_;
};

}  // namespace fatune
