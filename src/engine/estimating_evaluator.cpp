#include "engine/estimating_evaluator.hpp"

#include <chrono>
#include <utility>

#include "engine/work_estimate.hpp"

namespace fatune {
namespace {

// Short: what has been compiled meanwhile waits for it.
constexpr std::chrono::milliseconds kVerifierPatience{5};

Outcome with_verdict(Estimated estimated, const EmulationVerdict& verdict) {
  if (verdict.failure) {
    return *verdict.failure;
  }
  estimated.verification = verdict.verification;
  estimated.not_verified_because = verdict.not_covered;
  return estimated;
}

}  // namespace

EstimatingEvaluator::EstimatingEvaluator(const Family& family, DeviceLimits limits,
                                         std::optional<EstimateVerification> verification)
    : family_(family), limits_(std::move(limits)) {
  if (verification) {
    on_done_ = std::move(verification->on_done);
    verifier_ = std::make_unique<EmulatingVerifier>(family_, limits_, verification->emulation);
  }
}

void EstimatingEvaluator::begin_problem(const Problem& problem, std::optional<double>, RunLog&) {
  problem_ = problem;
  open_.clear();
  results_.clear();
}

std::optional<Outcome> EstimatingEvaluator::admit(TrialId trial, const Entry& entry,
                                                  const Candidate& candidate) {
  Estimated estimated = estimate_entry(family_, entry, candidate.geometry, problem_, limits_);
  if (!verifier_) {
    return estimated;
  }
  open_[trial] = {verifier_->begin(entry.config, problem_, candidate.artifact),
                  std::move(estimated)};
  return std::nullopt;
}

bool EstimatingEvaluator::work() {
  if (open_.empty()) {
    return false;
  }
  verifier_->wait(kVerifierPatience);
  collect();
  return true;
}

/// Takes the verdicts that are known.
void EstimatingEvaluator::collect() {
  for (auto trial = open_.begin(); trial != open_.end();) {
    if (const auto verdict = verifier_->verdict(trial->second.key)) {
      results_.push_back(
          {trial->first, with_verdict(std::move(trial->second.estimated), *verdict), 0, 0});
      trial = open_.erase(trial);
      on_done_();
    } else {
      ++trial;
    }
  }
}

bool EstimatingEvaluator::tells_when_done(TrialId trial) const { return open_.contains(trial); }

/// Trials without a verdict, when it was interrupted, have no result.
Evaluation EstimatingEvaluator::finish() {
  if (!open_.empty()) {
    verifier_->stop();
    open_.clear();
  }
  Evaluation evaluation;
  evaluation.results = std::exchange(results_, {});
  return evaluation;
}

}  // namespace fatune
