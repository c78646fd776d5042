#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/run_log.hpp"
#include "report/report.hpp"

// `--format jsonl`: prints the outcomes of a run while it goes on.
namespace fatune {

/// Prints each outcome as a line of JSON: one without a rank at once, the others when their problem
/// is ranked. Can be called from any thread. A line that cannot be written does not end the run,
/// because the last line, of the whole run, then fails too.
class OutcomeLines {
 public:
  /// `run`: without results.
  explicit OutcomeLines(RunReport run) : run_(std::move(run)) {}

  void add(const ProblemReport& header, const Result& result);
  void end_problem(const ProblemReport& problem);

 private:
  void print(const ProblemReport& problem, const Result& result) const;

  RunReport run_;
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> printed_;  ///< configurations, by problem under way
};

/// A log that also prints the outcomes.
class PrintingLog : public RunLog {
 public:
  PrintingLog(RunLog& log, OutcomeLines& lines) : log_(log), lines_(lines) {}

  [[nodiscard]] bool has_begun(const Problem& problem, int run) override {
    return log_.has_begun(problem, run);
  }
  void begin_problem(const ProblemReport& header) override;
  [[nodiscard]] std::optional<ProblemReport> recall_problem() override;
  [[nodiscard]] std::vector<JournalEvent> take_over_journal() override {
    return log_.take_over_journal();
  }
  void drop_journal() override { log_.drop_journal(); }
  void journal(const JournalEvent& event) override { log_.journal(event); }
  [[nodiscard]] std::optional<Outcome> recall(const Result& result,
                                              const LaunchGeometry& launch) override {
    return log_.recall(result, launch);
  }
  void add(const Result& result, const CandidateRecord& record) override;
  void end_problem(const ProblemReport& report, bool finished) override;

 private:
  RunLog& log_;
  OutcomeLines& lines_;
  ProblemReport header_;
};

}  // namespace fatune
