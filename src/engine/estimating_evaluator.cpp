#include "engine/estimating_evaluator.hpp"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/candidate_maker.hpp"
#include "model/statistics.hpp"
#include "race/estimate.hpp"

namespace fatune {
namespace {

// Short, because newly compiled candidates wait until it is over.
constexpr std::chrono::milliseconds kVerifierPatience{5};

class EstimatingEvaluator : public Evaluator {
 public:
  EstimatingEvaluator(const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
                      const std::optional<EstimateVerification>& verification)
      : families_(families), limits_(limits), rates_(rates) {
    if (verification) {
      on_done_ = verification->on_done;
      verifier_ = std::make_unique<EmulatingVerifier>(families_, limits_, verification->emulation);
    }
  }

  [[nodiscard]] const DeviceLimits& limits() const override { return limits_; }

  void begin_problem(const Problem& problem, const RaceTerms&, RunLog&) override {
    problem_ = problem;
    open_.clear();
    judged_.clear();
  }

  [[nodiscard]] std::optional<Outcome> admit(CandidateId id, const Result& result,
                                             const CandidateKernel& kernel) override {
    const bool on_tensor_cores = uses_tensor_cores(kernel.artifact->ptx);
    if (!verifier_) {
      return estimate_result(families_.of(result.config), result, kernel.geometry, problem_,
                             limits_, rates_, {on_tensor_cores});
    }
    open_[id] = {verifier_->begin(result.config, problem_, kernel.artifact),
                 result,
                 kernel.geometry,
                 on_tensor_cores,
                 std::nullopt,
                 std::nullopt};
    return std::nullopt;
  }

  [[nodiscard]] bool work() override {
    if (open_.empty()) {
      return false;
    }
    verifier_->wait(kVerifierPatience);
    collect();
    return true;
  }

  [[nodiscard]] bool tells_when_done(CandidateId id) const override { return open_.contains(id); }

  [[nodiscard]] std::vector<CandidateOutcome> known_so_far() const override {
    const Factors factors = factors_of_counting();
    std::vector<CandidateOutcome> known;
    for (const auto& [id, judged] : judged_) {
      known.push_back({id, outcome_of(judged, factors), 0, 0});
    }
    return known;
  }

  /// Candidates that have no verdict because of an interruption have no result.
  [[nodiscard]] Evaluation finish() override {
    if (!open_.empty()) {
      verifier_->stop();
      open_.clear();
    }
    Evaluation evaluation;
    evaluation.results = known_so_far();
    judged_.clear();
    return evaluation;
  }

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

  /// Moves candidates whose verdict is known from `open_` to `judged_`.
  void collect() {
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
  [[nodiscard]] std::optional<CountedWork> counted_work(const Open& candidate) const {
    if (!candidate.verdict->work) {
      return std::nullopt;
    }
    const Config& config = candidate.result.config;
    const auto& [shorter, longer] = *candidate.verdict->work;
    return scale_work(shorter, longer ? &*longer : nullptr, problem_, [&](const Problem& problem) {
      return count_tiles(families_.of(config), config, problem, limits_);
    });
  }

  /// Whether the estimate is made from the work that emulation counted.
  [[nodiscard]] bool is_counted(const Open& candidate) const {
    return candidate.work && !families_.of(candidate.result.config).estimate.model;
  }

  /// `counted`: from the work that was counted, which the candidate then must have.
  [[nodiscard]] Estimated estimate_of(const Open& candidate, bool counted) const {
    KnownCode code{candidate.uses_tensor_cores};
    if (counted) {
      code.counted = candidate.work;
    }
    return estimate_result(families_.of(candidate.result.config), candidate.result,
                           candidate.geometry, problem_, limits_, rates_, code);
  }

  /// How much longer the estimates of a family's candidates are when their work was counted: the
  /// median of those for which it was.
  [[nodiscard]] Factors factors_of_counting() const {
    std::map<std::string, std::vector<double>> factors;
    for (const auto& [id, candidate] : judged_) {
      if (is_counted(candidate)) {
        factors[candidate.result.config.family].push_back(
            estimate_of(candidate, true).estimate_us / estimate_of(candidate, false).estimate_us);
      }
    }
    Factors medians;
    for (const auto& [family, of_family] : factors) {
      medians[family] = median_of(of_family);
    }
    return medians;
  }

  [[nodiscard]] Outcome outcome_of(const Open& candidate, const Factors& factors) const {
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

  const FamilySet& families_;
  DeviceLimits limits_;
  SmRates rates_;
  Problem problem_;
  std::function<void()> on_done_;
  std::unique_ptr<EmulatingVerifier> verifier_;  ///< null: nothing is verified
  std::map<CandidateId, Open> open_;             ///< candidates without a verdict
  std::map<CandidateId, Open> judged_;           ///< candidates with a verdict
};

}  // namespace

std::unique_ptr<Evaluator> make_estimating_evaluator(
    const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
    const std::optional<EstimateVerification>& verification) {
  return std::make_unique<EstimatingEvaluator>(families, limits, rates, verification);
}

}  // namespace fatune
