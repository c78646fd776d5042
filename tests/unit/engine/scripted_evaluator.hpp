#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "engine/evaluator.hpp"

namespace fatune {

/// Gives toy configurations the time BLOCK_ROWS + UNROLL. Each trial needs one piece of work.
class ScriptedEvaluator : public Evaluator {
 public:
  explicit ScriptedEvaluator(std::string uuid = "GPU-scripted") { limits_.uuid = std::move(uuid); }

  [[nodiscard]] const DeviceLimits& limits() const override { return limits_; }
  void begin_problem(const Problem& problem, std::optional<double> budget_s, RunLog&) override {
    begun.push_back(problem.seq_len);
    budgets_s.push_back(budget_s);
    racing_.clear();
    due_ = 0;
    closed = false;
  }
  [[nodiscard]] bool resume(const std::vector<JournalEvent>& events,
                            const std::vector<ResumedTrial>& trials) override {
    resumed_events = events;
    for (const ResumedTrial& trial : trials) {
      resumed.push_back(trial.candidate.label);
      racing_.emplace_back(trial.trial, 1.0);
    }
    return can_resume;
  }
  [[nodiscard]] std::optional<Outcome> admit(TrialId trial, const Entry& entry,
                                             const Candidate& candidate) override {
    EXPECT_EQ(entry.short_form, candidate.label);
    EXPECT_TRUE(entry.facts && candidate.artifact);
    EXPECT_FALSE(closed);
    admitted.push_back(candidate.label);
    if (const auto found = refusals.find(candidate.label); found != refusals.end()) {
      return found->second;
    }
    racing_.emplace_back(
        trial, static_cast<double>(entry.config.values.at(2) + entry.config.values.at(3)));
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
      ::raise(SIGINT);
    }
    if (works == fail_at) {
      throw Error(ExitCode::gpu_failure, "scripted");
    }
    return true;
  }
  void close() override { closed = true; }
  [[nodiscard]] Evaluation finish() override {
    std::stable_sort(racing_.begin(), racing_.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    Evaluation evaluation;
    for (const auto& [trial, us] : racing_) {
      Measured measured;
      measured.timing.median_us = us;
      measured.timing.samples_us = {us};
      const auto place = static_cast<int>(evaluation.results.size()) + 1;
      evaluation.results.push_back({trial, measured, place, place});
    }
    evaluation.summary.emplace().stopped_because =
        closed && due_ == 0 ? "scripted" : "stopped early";
    return evaluation;
  }

  // The script.
  std::map<std::string, Outcome> refusals;  ///< by label
  bool can_resume = true;
  int interrupt_at = -1;  ///< a piece of work, from 1
  int fail_at = -1;

  // The calls that happened.
  std::vector<std::int64_t> begun;  ///< lengths
  std::vector<std::optional<double>> budgets_s;
  std::vector<std::string> admitted;
  std::vector<std::string> resumed;
  std::vector<JournalEvent> resumed_events;
  int works = 0;
  bool closed = false;

 private:
  DeviceLimits limits_;
  std::vector<std::pair<TrialId, double>> racing_;
  int due_ = 0;
};

}  // namespace fatune
