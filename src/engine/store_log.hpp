#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/run_log.hpp"
#include "model/options.hpp"
#include "model/report.hpp"
#include "store/database.hpp"
#include "store/recall.hpp"
#include "store/run_writer.hpp"

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

/// Stores a run as it proceeds, unless the options say not to, and gives a run that measures the
/// results of earlier runs. If a store cannot be opened or fails during the run, it says so even if
/// quiet, and the run continues without the store. Also prints the outcomes.
class StoreLog : public RunLog {
 public:
  /// `lines`: prints the outcomes; null: nothing does. Precondition: the GPU is held, so that what
  /// other runs on it left is final.
  StoreLog(const StoreOptions& options, const NewRun& run, OutcomeLines* lines = nullptr);

  [[nodiscard]] bool has_begun(const Problem& problem, int run) override;
  void begin_problem(const ProblemReport& header) override;
  [[nodiscard]] std::optional<ProblemReport> recall_problem() override;
  [[nodiscard]] std::vector<JournalEvent> take_over_journal() override;
  void drop_journal() override;
  void journal(const JournalEvent& event) override;
  [[nodiscard]] std::optional<Outcome> recall(const Result& result,
                                              const LaunchGeometry& launch) override;
  void add(const Result& result, const CandidateRecord& record) override;
  void end_problem(const ProblemReport& report, bool finished) override;
  void end_run(const RunReport& report);

  /// Whether everything so far is stored.
  [[nodiscard]] bool keeps() const noexcept { return writer_ != nullptr; }
  /// Whether something that is to be stored is not.
  [[nodiscard]] bool failed() const noexcept { return !off_ && !keeps(); }
  /// Whether the run resumes an interrupted one of the same plan.
  [[nodiscard]] bool continues() const noexcept { return continues_; }

 private:
  [[nodiscard]] CurrentRun current_run() const {
    return {*database_, identity_, writer_->run_id()};
  }
  [[nodiscard]] std::optional<Recalled> find(const StoredCandidate& candidate);
  /// Does the action if that is possible. If it fails, the run goes on without the store.
  template <typename Action>
  void attempt(bool possible, Action action);

  RunIdentity identity_;
  OutcomeLines* lines_;
  bool off_;
  bool reuse_ = false;  ///< also false without a store, like `continues_`
  bool continues_ = false;
  std::unique_ptr<Database> database_;
  std::unique_ptr<RunWriter> writer_;
  std::optional<Journal> journal_;      ///< the current problem's journal
  ProblemReport problem_;               ///< under way
  std::optional<std::int64_t> source_;  ///< id of the result that recall() has just answered
};

}  // namespace fatune
