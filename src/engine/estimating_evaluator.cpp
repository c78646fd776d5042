#include "engine/estimating_evaluator.hpp"

#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/sha256.hpp"
#include "base/task_pool.hpp"
#include "base/version.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/interrupt.hpp"
#include "engine/verdict_cache.hpp"
#include "model/record_json.hpp"
#include "model/statistics.hpp"
#include "plan/config_text.hpp"
#include "proof/findings.hpp"
#include "race/estimate.hpp"

namespace fatune {
namespace {

// Short, because newly compiled candidates wait until it is over.
constexpr std::chrono::milliseconds kVerifierPatience{5};

/// Verifies configurations by running their PTX on the CPU, on small problems (docs/emulate.md) and
/// on several threads. Code that was emulated on the same small problem is not emulated again. All
/// functions must be called from one thread.
class EmulatingVerifier {
 public:
  /// `families` must outlive the verifier.
  EmulatingVerifier(const FamilySet& families, DeviceLimits limits,
                    const EstimateVerification& setup)
      : families_(families),
        limits_(std::move(limits)),
        setup_(setup),
        inputs_(setup.seed),
        kept_(setup.cache == nullptr || build_identity().empty() ? nullptr : setup.cache),
        pool_(setup.jobs) {
    settings_.schedules = small_schedules(setup.seed);
    settings_.count_work = true;
    settings_.stopped = InterruptWatch::interrupted;
  }

  /// Begins the verification, and returns the key of the verdict on this code for this problem.
  /// Precondition: `artifact` has its PTX.
  [[nodiscard]] std::string begin(const Config& config, const Problem& problem,
                                  std::shared_ptr<const Artifact> artifact) {
    std::string key = key_of(config, problem, *artifact);
    const std::lock_guard lock(mutex_);
    const auto [verdict, is_new] = verdicts_.try_emplace(key);
    if (is_new) {
      verdict->second = kept_.find(key);
    }
    if (is_new && verdict->second) {
      setup_.on_verdict(0.0);
    } else if (is_new) {
      pool_.add(
          [this, config, problem, key, artifact = std::move(artifact), &to = verdict->second] {
            const double start_s = thread_cpu_s();
            EmulationVerdict found = emulate(config, problem, *artifact);
            spdlog::debug("emulated {}", short_form(families_.of(config), config));
            if (!InterruptWatch::interrupted()) {  // which may have ended a run
              kept_.store(key, found);
            }
            setup_.on_verdict(thread_cpu_s() - start_s);
            const std::lock_guard writing(mutex_);
            to = std::move(found);
          });
    }
    return key;
  }

  /// The verdict for a key that begin() returned. Empty: not known yet.
  [[nodiscard]] std::optional<EmulationVerdict> verdict(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return verdicts_.at(key);
  }
  /// Waits for the next verdict, for a short time.
  void wait() { pool_.wait(kVerifierPatience); }
  /// Drops the work that has not begun.
  void stop() { pool_.drop(); }

 private:
  /// Returns a hash of everything that the verdict depends on: this program with its emulator, the
  /// code, the family's launch and arguments, the device, the inputs and schedules, the problem
  /// that is emulated. A longer problem is also counted at a second length.
  [[nodiscard]] std::string key_of(const Config& config, const Problem& problem,
                                   const Artifact& artifact) const {
    const Family& family = families_.of(config);
    const Problem small = small_problem(problem);
    const bool longer = small.seq_len < problem.seq_len || small.seq_len_kv < problem.seq_len_kv;
    return sha256_hex(
        record_text({build_identity(), artifact.key, family.name, family.definition,
                     short_form(family, config), record_json(limits_), setup_.seed,
                     record_json(small), longer, record_json(narrow_problem(problem))}));
  }

  /// Emulates and judges a configuration. A failure of the emulator does not end the command; the
  /// configuration is then not verified.
  [[nodiscard]] EmulationVerdict emulate(const Config& config, const Problem& problem,
                                         const Artifact& artifact) {
    try {
      return judge(emulate_small({{families_.of(config), config, problem, limits_}, setup_.cache},
                                 &artifact, settings_, inputs_));
    } catch (const std::exception& error) {
      return {{}, std::nullopt, fmt::format("the emulator failed: {}", error.what())};
    }
  }

  [[nodiscard]] EmulationVerdict judge(const SmallEmulation& emulated) const {
    const EmulatedConfig& row = emulated.row;
    const Verification verification = verification_of(emulated, settings_, setup_.seed);
    if (row.outcome == OutcomeKind::wrong_result) {
      return {verification, WrongResult{verification, row.detail}, {}};
    }
    if (row.outcome == OutcomeKind::flagged) {
      return {verification, Flagged{verification, findings_summary(row.findings, row.groups)}, {}};
    }
    if (row.outcome == OutcomeKind::right) {
      return {verification, std::nullopt, {}, emulated.work};
    }
    return {{}, std::nullopt, row.outcome == OutcomeKind::stopped ? "interrupted" : row.detail};
  }

  const FamilySet& families_;
  DeviceLimits limits_;
  EstimateVerification setup_;
  EmulationSettings settings_;
  EmulatedInputs inputs_;
  VerdictCache kept_;
  std::mutex mutex_;
  std::map<std::string, std::optional<EmulationVerdict>> verdicts_;
  TaskPool pool_;  ///< must be last: its tasks use the other members
};

class EstimatingEvaluator : public Evaluator {
 public:
  EstimatingEvaluator(const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
                      const std::optional<EstimateVerification>& verification)
      : families_(families), limits_(limits), rates_(rates) {
    if (verification) {
      on_done_ = verification->on_done;
      verifier_ = std::make_unique<EmulatingVerifier>(families_, limits_, *verification);
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
      return estimate_result(case_of(result.config, problem_), result, kernel.geometry, rates_,
                             {on_tensor_cores});
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
    verifier_->wait();
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

  [[nodiscard]] ConfigCase case_of(const Config& config, const Problem& problem) const {
    return {families_.of(config), config, problem, limits_};
  }

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
      return count_tiles(case_of(config, problem));
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
    return estimate_result(case_of(candidate.result.config, problem_), candidate.result,
                           candidate.geometry, rates_, code);
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
