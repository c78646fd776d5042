#include "engine/estimating_evaluator.hpp"

#include <utility>

#include "engine/work_estimate.hpp"

namespace fatune {

EstimatingEvaluator::EstimatingEvaluator(const Family& family, DeviceLimits limits)
    : family_(family), limits_(std::move(limits)) {}

void EstimatingEvaluator::begin_problem(const Problem& problem, std::optional<double>, RunLog&) {
  problem_ = problem;
}

std::optional<Outcome> EstimatingEvaluator::admit(TrialId, const Entry& entry,
                                                  const Candidate& candidate) {
  return estimate_entry(family_, entry, candidate.geometry, problem_, limits_);
}

}  // namespace fatune
