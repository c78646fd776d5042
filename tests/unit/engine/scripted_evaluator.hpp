#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/evaluator.hpp"
#include "engine/interrupt.hpp"

namespace fatune {

/// Interrupts this process as Ctrl-C does, and returns when the interrupt has been noted.
/// Precondition: there is an InterruptWatch.
inline void interrupt_this_process() {
  ::kill(::getpid(), SIGINT);
  while (!InterruptWatch::interrupted()) {
    std::this_thread::yield();
  }
}

/// Gives toy configurations the time BLOCK_ROWS + UNROLL. Each candidate needs one piece of work.
class ScriptedEvaluator : public Evaluator {
 public:
  explicit ScriptedEvaluator(std::string uuid = "GPU-scripted") { limits_.uuid = std::move(uuid); }

  [[nodiscard]] const DeviceLimits& limits() const override { return limits_; }
  void begin_problem(const Problem& problem, const RaceTerms& terms, RunLog&) override {
    begun.push_back(problem.seq_len);
    budgets_s.push_back(terms.budget_s);
    racing_.clear();
    due_ = 0;
    closed = false;
  }
  [[nodiscard]] bool resume(const std::vector<JournalEvent>& events,
                            const std::vector<ResumedCandidate>& candidates) override {
    resumed_events = events;
    for (const ResumedCandidate& candidate : candidates) {
      resumed.push_back(candidate.kernel.label);
      racing_.emplace_back(candidate.id, 1.0);
    }
    return can_resume;
  }
  [[nodiscard]] std::optional<Outcome> admit(CandidateId id, const Result& result,
                                             const CandidateKernel& kernel) override {
    EXPECT_EQ(result.short_form, kernel.label);
    EXPECT_TRUE(result.facts && kernel.artifact);
    EXPECT_FALSE(closed);
    admitted.push_back(kernel.label);
    if (const auto found = refusals.find(kernel.label); found != refusals.end()) {
      return found->second;
    }
    racing_.emplace_back(
        id, static_cast<double>(result.config.values.at(2) + result.config.values.at(3)));
    ++due_;
    return std::nullopt;
  }
  [[nodiscard]] bool work() override {
    if (due_ == 0) {
      return false;
    }
    --due_;
    ++works;
    if (works == interrupt_at) {
      interrupt_this_process();
    }
    if (works == fail_at) {
      throw Error(ExitCode::gpu_failure, "scripted");
    }
    return true;
  }
  void close() override { closed = true; }
  /// The outcomes of the candidates that have had their work, in the order of admission.
  [[nodiscard]] std::vector<CandidateOutcome> known_so_far() const override {
    std::vector<CandidateOutcome> known;
    for (const auto& [id, us] : racing_) {
      if (known.size() + static_cast<std::size_t>(due_) < racing_.size()) {
        known.push_back({id, measured(us), 0, 0});
      }
    }
    return known;
  }
  [[nodiscard]] Evaluation finish() override {
    std::stable_sort(racing_.begin(), racing_.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    Evaluation evaluation;
    for (const auto& [id, us] : racing_) {
      const auto place = static_cast<int>(evaluation.results.size()) + 1;
      evaluation.results.push_back({id, measured(us), place, place});
    }
    evaluation.summary.emplace().stopped_because =
        closed && due_ == 0 ? StopReason::target : StopReason::round_limit;
    return evaluation;
  }

  // The script.
  std::map<std::string, Outcome> refusals;  ///< by label
  bool can_resume = true;
  int interrupt_at = -1;  ///< the number of a piece of work, from 1
  int fail_at = -1;

  // The recorded calls.
  std::vector<std::int64_t> begun;  ///< sequence lengths
  std::vector<std::optional<double>> budgets_s;
  std::vector<std::string> admitted;
  std::vector<std::string> resumed;
  std::vector<JournalEvent> resumed_events;
  int works = 0;
  bool closed = false;

 private:
  [[nodiscard]] static Measured measured(double us) {
    Measured measured;
    measured.timing.median_us = us;
    measured.timing.samples_us = {us};
    return measured;
  }

  DeviceLimits limits_;
  std::vector<std::pair<CandidateId, double>> racing_;
  int due_ = 0;
};

}  // namespace fatune
