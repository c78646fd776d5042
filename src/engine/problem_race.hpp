#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/candidate_list.hpp"
#include "engine/conditions_log.hpp"
#include "engine/evaluator.hpp"
#include "engine/race_counters.hpp"
#include "engine/run_log.hpp"
#include "measure/measurer.hpp"
#include "race/race.hpp"
#include "report/report.hpp"

namespace fatune {

/// One problem's race on one GPU: race/ chooses the next candidate, the measurer takes its sample,
/// the log hears of it. Contracts as in Evaluator.
class ProblemRace {
 public:
  /// The problem must have begun on `measurer`; it and `log` must outlive the race. `budget_s`
  /// counts from here on. `counters`, if there are any, are read when the race is over.
  ProblemRace(Measurer& measurer, std::optional<double> budget_s, RunLog& log,
              RaceCounters* counters = nullptr);

  [[nodiscard]] bool resume(const std::vector<JournalEvent>& events,
                            const std::vector<ResumedCandidate>& candidates);
  [[nodiscard]] std::optional<Outcome> admit(CandidateId id, const CandidateKernel& kernel);
  [[nodiscard]] bool work();
  void close();
  [[nodiscard]] Evaluation finish() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct MeasuredCandidate {
    CandidateId id{};
    CandidateKernel kernel;
    Verification verification;
    double first_us = 0.0;
    bool loaded = false;   ///< admitted by the measurer in this process
    bool checked = false;  ///< its output was right after the last sample, too
    bool counted = false;  ///< its hardware counters were read, or it was tried
    bool gate_lost = false;
    std::vector<CounterValue> counters;
    std::string counter_warning;
    std::optional<Outcome> failure;
  };

  [[nodiscard]] double elapsed_s() const;
  void join(MeasuredCandidate candidate);
  void enter(MeasuredCandidate candidate);
  void reopen();
  [[nodiscard]] bool replay(const std::vector<JournalEvent>& events,
                            const std::map<std::string, const ResumedCandidate*>& candidates);
  [[nodiscard]] bool replay_admission(
      const JournalEvent& event, const std::map<std::string, const ResumedCandidate*>& candidates);
  [[nodiscard]] bool replay_sample(const JournalEvent& event);
  [[nodiscard]] bool replay_failure(const JournalEvent& event);
  void start_over();
  [[nodiscard]] std::optional<Outcome> load(MeasuredCandidate& candidate);
  [[nodiscard]] std::optional<Outcome> discard_warmup(CandidateId id);
  void take_sample(CandidateId id, int round);
  void record(MeasuredCandidate& candidate, const Samples& samples);
  void withdraw(CandidateId id, Outcome failure);
  [[nodiscard]] bool recheck_next();
  [[nodiscard]] bool needs_recheck(const Standing& standing) const;
  [[nodiscard]] bool count_next();
  void count(MeasuredCandidate& candidate);
  [[nodiscard]] Outcome outcome_of(const MeasuredCandidate& candidate,
                                   const Standing& standing) const;

  Measurer& measurer_;
  RunLog& log_;
  RaceCounters* counters_;
  std::string counter_problem_;  ///< that showed in this race
  RacePolicy policy_;
  Race race_;
  CandidateList<MeasuredCandidate> candidates_;
  ConditionsLog conditions_;
  Clock::time_point start_ = Clock::now();
  double spent_before_s_ = 0.0;  ///< by the run that this one resumes
  double race_elapsed_s_ = 0.0;  ///< as last told to the race
  bool closed_ = false;
};

}  // namespace fatune
