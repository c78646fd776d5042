#pragma once

#include <optional>

#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "core/report.hpp"

namespace fatune {

/// How an outcome came about, for the log.
struct TrialRecord {
  const Artifact* artifact = nullptr;  ///< null: it was never compiled
  LaunchGeometry launch;
  bool evaluated = false;  ///< by the evaluator, now or in an earlier run
};

/// What a pipeline tells as it goes on, and asks before it evaluates. This one keeps and knows
/// nothing. No call throws: a log that fails says so and goes on without.
class RunLog {
 public:
  RunLog() = default;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  RunLog(RunLog&&) = delete;
  RunLog& operator=(RunLog&&) = delete;
  virtual ~RunLog() = default;

  /// Before anything else of the problem; `header` has no entries.
  virtual void begin_problem(const ProblemReport& /*header*/) {}
  /// Whether recall() may have answers, so that preparing the problem can wait for the first none.
  [[nodiscard]] virtual bool may_recall() const { return false; }
  /// An earlier outcome that stands for an evaluation of the entry.
  [[nodiscard]] virtual std::optional<Outcome> recall(const Entry& /*entry*/,
                                                      const LaunchGeometry& /*launch*/) {
    return std::nullopt;
  }
  /// The entry has its outcome. After recall() for the same entry, if that was called.
  virtual void add(const Entry& /*entry*/, const TrialRecord& /*trial*/) {}
  /// The problem is ranked.
  virtual void end_problem(const ProblemReport& /*report*/) {}
};

}  // namespace fatune
