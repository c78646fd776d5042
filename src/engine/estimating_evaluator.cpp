#include "engine/estimating_evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/work_estimate.hpp"

namespace fatune {
namespace {

// Short, because newly compiled candidates wait until it is over.
constexpr std::chrono::milliseconds kVerifierPatience{5};

}  // namespace

EstimatingEvaluator::EstimatingEvaluator(const FamilySet& families, DeviceLimits limits,
                                         const SmRates& rates,
                                         std::optional<EstimateVerification> verification)
    : families_(families), limits_(std::move(limits)), rates_(rates) {
  if (verification) {
    on_done_ = std::move(verification->on_done);
    verifier_ = std::make_unique<EmulatingVerifier>(families_, limits_, verification->emulation);
  }
}

void EstimatingEvaluator::begin_problem(const Problem& problem, const RaceTerms&, RunLog&) {
  problem_ = problem;
  open_.clear();
  judged_.clear();
}

std::optional<Outcome> EstimatingEvaluator::admit(CandidateId id, const Result& result,
                                                  const CandidateKernel& kernel) {
  if (!verifier_) {
    return estimate_result(families_.of(result.config), result, kernel.geometry, problem_, limits_,
                           rates_);
  }
  open_[id] = {verifier_->begin(result.config, problem_, kernel.artifact), result, kernel.geometry,
               std::nullopt};
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

/// Moves candidates whose verdict is known from `open_` to `judged_`.
void EstimatingEvaluator::collect() {
  for (auto candidate = open_.begin(); candidate != open_.end();) {
    candidate->second.verdict = verifier_->verdict(candidate->second.key);
    if (candidate->second.verdict) {
      judged_.insert(*candidate);
      candidate = open_.erase(candidate);
      on_done_();
    } else {
      ++candidate;
    }
  }
}

bool EstimatingEvaluator::tells_when_done(CandidateId id) const { return open_.contains(id); }

bool EstimatingEvaluator::all_counted() const {
  return std::ranges::all_of(judged_, [](const auto& candidate) {
    const EmulationVerdict& verdict = *candidate.second.verdict;
    return verdict.failure || verdict.work;
  });
}

Outcome EstimatingEvaluator::outcome_of(const Open& candidate, bool counted) const {
  const EmulationVerdict& verdict = *candidate.verdict;
  if (verdict.failure) {
    return *verdict.failure;
  }
  std::optional<CountedWork> work;
  if (counted) {
    const auto& [shorter, longer] = *verdict.work;
    work = scale_work(shorter, longer ? &*longer : nullptr, problem_,
                      spread_launch(families_.of(candidate.result.config), candidate.result.config,
                                    problem_, limits_, candidate.geometry));
  }
  Estimated estimated = estimate_result(families_.of(candidate.result.config), candidate.result,
                                        candidate.geometry, problem_, limits_, rates_, work);
  estimated.verification = verdict.verification;
  estimated.not_verified_because = verdict.not_covered;
  return estimated;
}

std::vector<CandidateOutcome> EstimatingEvaluator::known_so_far() const {
  const bool counted = all_counted();
  std::vector<CandidateOutcome> known;
  for (const auto& [id, judged] : judged_) {
    known.push_back({id, outcome_of(judged, counted), 0, 0});
  }
  return known;
}

/// Candidates that have no verdict because of an interruption have no result.
Evaluation EstimatingEvaluator::finish() {
  if (!open_.empty()) {
    verifier_->stop();
    open_.clear();
  }
  Evaluation evaluation;
  evaluation.results = known_so_far();
  judged_.clear();
  return evaluation;
}

}  // namespace fatune
