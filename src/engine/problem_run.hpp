#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluator.hpp"
#include "engine/problem_work.hpp"
#include "engine/run_log.hpp"
#include "model/device_limits.hpp"

namespace fatune {

/// The parts that a problem is run with; all of them must outlive the run.
struct ProblemRunParts {
  const DeviceLimits& limits;
  CompileFeed& feed;
  Evaluator& evaluator;
  RunLog& log;
  RunObserver& observer;
  std::optional<Config> baseline;  ///< the one that relative_percent refers to (race/ranking.hpp)
  std::optional<double> budget_s;  ///< this problem's budget
};

/// Runs one problem on one GPU. Candidates are admitted as their machine code arrives, and raced in
/// between.
class ProblemRun {
 public:
  /// `index`: the problem's number in the feed.
  ProblemRun(ProblemRunParts parts, ProblemWork& work, std::size_t index)
      : parts_(std::move(parts)), work_(work), index_(index) {}

  /// Runs the problem; call once. Returns false if the user has interrupted it.
  [[nodiscard]] bool run();
  /// The report of the run; call once, after run().
  [[nodiscard]] ProblemReport take_report() { return std::move(report_); }

 private:
  /// Machine code and launch. Candidates with the same key need not be told apart.
  using CodeKey = std::pair<std::string, LaunchGeometry>;

  [[nodiscard]] bool take_recalled();
  void begin();
  void finish_uncompiled(std::vector<Result> results);
  [[nodiscard]] bool go_on();
  [[nodiscard]] bool collect(const std::set<CandidateId>& candidates);
  [[nodiscard]] std::set<CandidateId> journaled_candidates(
      const std::vector<JournalEvent>& events) const;
  void resume(const std::vector<JournalEvent>& events, const std::set<CandidateId>& candidates);
  /// The number of candidates that are being compiled or wait to be handled.
  [[nodiscard]] std::size_t open() const { return work_.candidates().size() - handled_; }
  [[nodiscard]] bool race();
  void wait_for_candidate();
  /// `idle`: whether the evaluator has nothing to do.
  void ask_for_more(bool idle);
  void compile(const std::vector<CandidateId>& candidates);
  void tell(CandidateId id, const Outcome& outcome);
  [[nodiscard]] std::optional<CompiledCandidate> next_ready(bool wait);
  void add_code(const CompiledCandidate& ready);
  void handle(const CompiledCandidate& ready);
  [[nodiscard]] std::optional<Outcome> outcome_of(CandidateId id, const CompileResult& result);
  [[nodiscard]] static CodeKey code_of(const Candidate& candidate);
  [[nodiscard]] bool repeats_code(CandidateId id);
  [[nodiscard]] PartTail tail_of(const Candidate& candidate) const;
  [[nodiscard]] CandidateKernel kernel_of(const Candidate& candidate) const;
  void finish_candidate(CandidateId id, bool evaluated);
  [[nodiscard]] bool is_journaled(const Result& result) const;
  void finish(bool complete);
  void finish_repeats(bool complete);
  void rank();

  ProblemRunParts parts_;
  ProblemWork& work_;
  std::size_t index_;
  std::deque<CompiledCandidate> waiting_;  ///< arrived while others were looked for
  std::size_t handled_ = 0;
  bool search_ended_ = false;
  std::set<CandidateId> resumed_;
  std::vector<JournalEvent> journaled_;  ///< events from which the run resumes
  std::map<CodeKey, CandidateId> first_with_code_;
  std::vector<std::pair<CandidateId, CandidateId>>
      repeats_;  ///< a candidate, and the first one with the same code
  std::set<CandidateId> finished_candidates_;
  std::vector<Result> finished_;
  ProblemReport report_;
};

}  // namespace fatune
