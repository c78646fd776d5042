#pragma once

#include <optional>
#include <vector>

#include "core/journal_event.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "report/report.hpp"

namespace fatune {

/// How an outcome came about, for the log.
struct CandidateRecord {
  const Artifact* artifact = nullptr;  ///< null: it was never compiled
  LaunchGeometry launch;
  /// By the evaluator, now or in an earlier run, and for good: a run that goes on with this one
  /// may take it over.
  bool evaluated = false;
};

/// The events that a run reports, and the questions that it asks before it evaluates. This class
/// stores and knows nothing. No call throws: a log that fails says so, and the run continues
/// without it.
class RunLog {
 public:
  RunLog() = default;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  virtual ~RunLog() = default;

  /// Whether an interrupted run of the same plan had begun the problem on this GPU. From any
  /// thread, while no problem is under way.
  [[nodiscard]] virtual bool has_begun(const Problem& /*problem*/, int /*run*/) { return false; }
  /// Before anything else of the problem; `header` has no results.
  virtual void begin_problem(const ProblemReport& /*header*/) {}
  /// The whole ranked report of the problem begun, when an interrupted run of the same plan has
  /// finished it. It is then kept for this run too: no other call for the problem may follow.
  [[nodiscard]] virtual std::optional<ProblemReport> recall_problem() { return std::nullopt; }
  /// The events that an interrupted run of the plan told the race of the problem begun. They become
  /// the beginning of this run's journal, to which later events are added.
  [[nodiscard]] virtual std::vector<JournalEvent> take_over_journal() { return {}; }
  /// The journal taken over does not fit: the race begins anew, and the journal with it.
  virtual void drop_journal() {}
  /// The race has been told this. After take_over_journal(), if that was called.
  virtual void journal(const JournalEvent& /*event*/) {}
  /// An earlier outcome that replaces an evaluation of the result.
  [[nodiscard]] virtual std::optional<Outcome> recall(const Result& /*result*/,
                                                      const LaunchGeometry& /*launch*/) {
    return std::nullopt;
  }
  /// The result has its outcome. After recall() for the same result, if that was called.
  virtual void add(const Result& /*result*/, const CandidateRecord& /*record*/) {}
  /// The problem is ranked. `finished`: nothing of it is missing; a run that was interrupted within
  /// it is not.
  virtual void end_problem(const ProblemReport& /*report*/, bool /*finished*/) {}
};

}  // namespace fatune
