#pragma once

#include <optional>
#include <vector>

#include "model/journal_event.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"

namespace fatune {

/// How an outcome was obtained, for the log.
struct CandidateRecord {
  const Artifact* artifact = nullptr;  ///< null: it was never compiled
  LaunchGeometry launch;
  /// Whether the outcome is final and comes from the evaluator, in this or an earlier run. A run
  /// that resumes this one may then reuse it.
  bool evaluated = false;
};

/// Receives the events of a run, and answers its questions before it evaluates. This base class
/// stores nothing and knows nothing. No call throws: a log that fails says so, and the run
/// continues without it.
class RunLog {
 public:
  virtual ~RunLog() = default;

  /// Whether an interrupted run of the same plan had begun the problem on this GPU. May be called
  /// from any thread while no problem is under way.
  [[nodiscard]] virtual bool has_begun(const Problem& /*problem*/, int /*run*/) { return false; }
  /// Begins a problem; called before anything else of it. `header` has no results.
  virtual void begin_problem(const ProblemReport& /*header*/) {}
  /// The complete ranked report of the current problem, if an interrupted run of the same plan has
  /// finished it. It is then kept for this run too: no other call for the problem may follow.
  [[nodiscard]] virtual std::optional<ProblemReport> recall_problem() { return std::nullopt; }
  /// The events that an interrupted run of the plan journaled for the current problem. They become
  /// the beginning of this run's journal, to which later events are added.
  [[nodiscard]] virtual std::vector<JournalEvent> take_over_journal() { return {}; }
  /// Discards the journal taken over, because it does not fit. The race begins anew, and the
  /// journal with it.
  virtual void drop_journal() {}
  /// Adds an event of the race to the journal. Called after take_over_journal(), if that was
  /// called.
  virtual void journal(const JournalEvent& /*event*/) {}
  /// An earlier outcome that replaces an evaluation of the result.
  [[nodiscard]] virtual std::optional<Outcome> recall(const Result& /*result*/,
                                                      const LaunchGeometry& /*launch*/) {
    return std::nullopt;
  }
  /// Records the outcome of a result. Called after recall() for the same result, if that was
  /// called.
  virtual void add(const Result& /*result*/, const CandidateRecord& /*record*/) {}
  /// Ends the ranked problem. `finished`: nothing of it is missing; false if the run was
  /// interrupted within it.
  virtual void end_problem(const ProblemReport& /*report*/, bool /*finished*/) {}
};

/// Watches a run. Several threads may call it at the same time. This base class ignores all
/// events.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  virtual void begin_problem(const Problem& /*problem*/) {}
  /// One more configuration of any problem is done or has joined its race.
  virtual void step() {}
  /// One more kernel is to be compiled, for any number of configurations.
  virtual void expect_kernel() {}
  /// A kernel was compiled, or taken from the cache, in so much CPU time.
  virtual void compiled(double /*cpu_s*/) {}
  /// A kernel was emulated, or its verdict taken from the cache, in so much CPU time.
  virtual void emulated(double /*cpu_s*/) {}
  /// `report` may be of a run that was interrupted within the problem.
  virtual void end_problem(const ProblemReport& /*report*/) {}
};

}  // namespace fatune
