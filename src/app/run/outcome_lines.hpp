#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

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

}  // namespace fatune
