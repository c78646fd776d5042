#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/run_log.hpp"

namespace fatune {

/// Records its calls, and answers from records that a test provides.
class RecordingLog : public RunLog {
 public:
  struct Added {
    std::string config;
    std::string outcome;
    bool compiled = false;
    bool evaluated = false;

    bool operator==(const Added&) const = default;
  };
  struct Ended {
    ProblemReport report;
    bool finished = false;
  };

  [[nodiscard]] bool has_begun(const Problem& problem, int) override {
    return begun_before.count(problem.seq_len) > 0;
  }
  void begin_problem(const ProblemReport& header) override { begun.push_back(header); }
  [[nodiscard]] std::optional<ProblemReport> recall_problem() override { return earlier_report; }
  [[nodiscard]] std::vector<JournalEvent> take_over_journal() override {
    events = earlier_events;
    return events;
  }
  void drop_journal() override {
    ++drops;
    events.clear();
  }
  void journal(const JournalEvent& event) override { events.push_back(event); }
  [[nodiscard]] std::optional<Outcome> recall(const Result& result,
                                              const LaunchGeometry&) override {
    const auto found = earlier_outcomes.find(result.short_form);
    return found == earlier_outcomes.end() ? std::nullopt : std::optional(found->second);
  }
  void add(const Result& result, const CandidateRecord& record) override {
    added.push_back({result.short_form, std::string(outcome_name(result.outcome)),
                     record.artifact != nullptr, record.evaluated});
  }
  void end_problem(const ProblemReport& report, bool finished) override {
    ended.push_back({report, finished});
  }

  // Records of an earlier run.
  std::set<std::int64_t> begun_before;  ///< sequence lengths
  std::optional<ProblemReport> earlier_report;
  std::vector<JournalEvent> earlier_events;
  std::map<std::string, Outcome> earlier_outcomes;  ///< by short form

  // The recorded calls.
  std::vector<ProblemReport> begun;
  std::vector<JournalEvent> events;
  int drops = 0;
  std::vector<Added> added;
  std::vector<Ended> ended;
};

}  // namespace fatune
