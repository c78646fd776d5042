#include "engine/estimating_evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/candidate_maker.hpp"
#include "model/statistics.hpp"
#include "race/estimate.hpp"

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
  const bool on_tensor_cores = uses_tensor_cores(kernel.artifact->ptx);
  if (!verifier_) {
    return estimate_result(families_.of(result.config), result, kernel.geometry, problem_, limits_,
                           rates_, {on_tensor_cores});
  }
  open_[id] = {verifier_->begin(result.config, problem_, kernel.artifact),
               result,
               kernel.geometry,
               on_tensor_cores,
               std::nullopt,
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
      candidate->second.work = counted_work(candidate->second);
      judged_.insert(*candidate);
      candidate = open_.erase(candidate);
      on_done_();
    } else {
      ++candidate;
    }
  }
}

/// Precondition: the candidate's verdict is known.
std::optional<CountedWork> EstimatingEvaluator::counted_work(const Open& candidate) const {
  if (!candidate.verdict->work) {
    return std::nullopt;
  }
  const Config& config = candidate.result.config;
  const auto& [shorter, longer] = *candidate.verdict->work;
  return scale_work(shorter, longer ? &*longer : nullptr, problem_, [&](const Problem& problem) {
    return count_tiles(families_.of(config), config, problem, limits_);
  });
}

/// `counted`: from the work that was counted, which the candidate then must have.
Estimated EstimatingEvaluator::estimate_of(const Open& candidate, bool counted) const {
  const Family& family = families_.of(candidate.result.config);
  KnownCode code{candidate.uses_tensor_cores};
  if (counted) {
    code.counted = candidate.work;
  }
  return estimate_result(family, candidate.result, candidate.geometry, problem_, limits_, rates_,
                         code);
}

/// How much longer the estimates of a family's candidates are when their work was counted: the
/// median of those for which it was.
EstimatingEvaluator::Factors EstimatingEvaluator::factors_of_counting() const {
  std::map<std::string, std::vector<double>> factors;
  for (const auto& [id, candidate] : judged_) {
    if (is_counted(candidate)) {
      factors[candidate.result.config.family].push_back(estimate_of(candidate, true).estimate_us /
                                                        estimate_of(candidate, false).estimate_us);
    }
  }
  Factors medians;
  for (auto& [family, of_family] : factors) {
    std::ranges::sort(of_family);
    medians[family] = median_of_sorted(of_family);
  }
  return medians;
}

Outcome EstimatingEvaluator::outcome_of(const Open& candidate, const Factors& factors) const {
  const EmulationVerdict& verdict = *candidate.verdict;
  if (verdict.failure) {
    return *verdict.failure;
  }
  const bool counted = is_counted(candidate);
  Estimated estimated = estimate_of(candidate, counted);
  const auto factor = factors.find(candidate.result.config.family);
  if (!counted && factor != factors.end()) {
    estimated = scaled(std::move(estimated), factor->second);
  }
  estimated.verification = verdict.verification;
  estimated.not_verified_because = verdict.not_covered;
  return estimated;
}

std::vector<CandidateOutcome> EstimatingEvaluator::known_so_far() const {
  const Factors factors = factors_of_counting();
  std::vector<CandidateOutcome> known;
  for (const auto& [id, judged] : judged_) {
    known.push_back({id, outcome_of(judged, factors), 0, 0});
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
