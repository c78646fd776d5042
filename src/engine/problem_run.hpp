#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/device_limits.hpp"
#include "engine/compile_feed.hpp"
#include "engine/evaluator.hpp"
#include "engine/problem_work.hpp"
#include "engine/run_log.hpp"
#include "engine/run_observer.hpp"

namespace fatune {

/// The parts that a problem is run with; all of them must outlive the run.
struct ProblemRunParts {
  const DeviceLimits& limits;
  CompileFeed& feed;
  Evaluator& evaluator;
  RunLog& log;
  RunObserver& observer;
  std::optional<Config> baseline;  ///< that relative_percent refers to (rank/ranking.hpp)
  std::optional<double> budget_s;  ///< for this problem
};

/// One problem on one GPU: trials are admitted as their machine code arrives, and raced in between.
class ProblemRun {
 public:
  /// `index`: the problem's number in the feed.
  ProblemRun(ProblemRunParts parts, ProblemWork& work, std::size_t index);

  /// False when the user has interrupted it. Once.
  [[nodiscard]] bool run();
  /// The report of the run; call once, after run().
  [[nodiscard]] ProblemReport take_report() { return std::move(report_); }

 private:
  /// Machine code and launch: those with the same one need not be told apart.
  using CodeKey = std::pair<std::string, LaunchGeometry>;

  [[nodiscard]] ProblemReport header() const;
  [[nodiscard]] bool take_recalled();
  void begin();
  [[nodiscard]] bool go_on();
  [[nodiscard]] bool collect(const std::set<std::size_t>& trials);
  [[nodiscard]] std::set<std::size_t> journaled_trials(
      const std::vector<JournalEvent>& events) const;
  [[nodiscard]] bool fits(const JournalEvent& event) const;
  void resume(const std::vector<JournalEvent>& events, const std::set<std::size_t>& trials);
  [[nodiscard]] bool race();
  [[nodiscard]] std::optional<ReadyTrial> next_ready(bool wait);
  void add_code(const ReadyTrial& ready);
  void handle(const ReadyTrial& ready);
  [[nodiscard]] std::optional<Outcome> outcome_of(std::size_t trial, const CompileResult& result);
  [[nodiscard]] static CodeKey code_of(const Trial& trial);
  [[nodiscard]] bool repeats_code(std::size_t trial);
  [[nodiscard]] Candidate candidate_of(const Trial& trial) const;
  void finish_trial(std::size_t trial, bool evaluated);
  [[nodiscard]] bool is_journaled(const Entry& entry) const;
  void finish(bool complete);
  void finish_repeats(bool complete);
  void rank();

  ProblemRunParts parts_;
  ProblemWork& work_;
  std::size_t index_;
  std::deque<ReadyTrial> waiting_;  ///< that came while others were looked for
  std::size_t handled_ = 0;
  std::set<std::size_t> resumed_;
  std::vector<JournalEvent> journaled_;  ///< events from which the run resumes
  std::map<CodeKey, std::size_t> first_with_code_;
  std::vector<std::pair<std::size_t, std::size_t>>
      repeats_;  ///< a trial, and the one with the same code
  std::set<std::size_t> finished_trials_;
  std::vector<Entry> finished_;
  ProblemReport report_;
};

}  // namespace fatune
