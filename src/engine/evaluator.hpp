#pragma once

#include <optional>
#include <vector>

#include "engine/run_log.hpp"
#include "measure/measurer.hpp"
#include "model/candidate_list.hpp"
#include "model/device_limits.hpp"
#include "model/journal_event.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"
#include "model/statistics.hpp"

namespace fatune {

/// A candidate that an earlier, interrupted run has admitted.
struct ResumedCandidate {
  CandidateId id{};
  CandidateKernel kernel;
};

/// The outcome of an admitted candidate.
struct CandidateOutcome {
  CandidateId candidate{};
  Outcome outcome;
  int place = 0;      ///< 1 is the fastest; 0: none was given
  int tie_group = 0;  ///< members of a group cannot be told apart; 0: none was given
  std::optional<MedianInterval> to_fastest{};  ///< see Result::to_fastest
};

struct Evaluation {
  std::vector<CandidateOutcome> results;  ///< what is known about each admitted candidate
  std::optional<MeasuringSummary> summary;
  std::optional<GpuConditions> conditions;
  std::optional<DeviceRates> rates;
};

/// The terms on which a problem is raced.
struct RaceTerms {
  std::optional<double> budget_s;
  std::optional<int> repeats;  ///< ProblemPlan::repeats
  /// The part of the problem that early rounds are on. Each candidate then has a launch on it.
  /// Absent: there is none.
  std::optional<Problem> part = {};
  std::optional<double> part_share = {};  ///< the part's share of the problem's work; with `part`
  /// Whether times are compared at one SM clock (journaled_race.hpp).
  bool at_one_clock = false;
  /// Whether a sustained final may follow (MeasurePolicy::sustain_s).
  bool may_sustain = true;
};

/// Determines how long compiled configurations take, by measuring or by estimating. It handles one
/// problem at a time, with these calls: begin_problem(); resume() at most once; admit() and work()
/// in any order; close() after the last admit(); work() until it returns false; finish(). An Error
/// ends the command.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// The limits of the GPU, including its free memory.
  [[nodiscard]] virtual const DeviceLimits& limits() const = 0;
  /// Begins a problem. `log` receives everything that is needed to resume after a crash, and must
  /// live until finish().
  virtual void begin_problem(const Problem& problem, const RaceTerms& terms, RunLog& log) = 0;
  /// Continues where an interrupted run stopped. Returns false if the events do not fit; none of
  /// them is then used. `candidates`: those that the events name as admitted.
  [[nodiscard]] virtual bool resume(const std::vector<JournalEvent>& /*events*/,
                                    const std::vector<ResumedCandidate>& /*candidates*/) {
    return false;
  }
  /// Admits a candidate. Returns its outcome if that is known already; otherwise finish() has it.
  /// Precondition: `result` has the artifact's facts, and a block fits an SM.
  [[nodiscard]] virtual std::optional<Outcome> admit(CandidateId id, const Result& result,
                                                     const CandidateKernel& kernel) = 0;
  /// Does a small piece of work, at most one sample. Returns false if there is nothing to do until
  /// another candidate is admitted or, after close(), for good.
  [[nodiscard]] virtual bool work() { return false; }
  virtual void close() {}
  /// Whether the evaluator itself tells an observer when the admitted candidate is done. False: the
  /// candidate counts as done once it is admitted.
  [[nodiscard]] virtual bool tells_when_done(CandidateId /*id*/) const { return false; }
  /// What is known so far about admitted candidates, for a search that learns from it. Times may
  /// change later.
  [[nodiscard]] virtual std::vector<CandidateOutcome> known_so_far() const { return {}; }
  /// The evaluation of the problem. Before the end of the race it has what is known so far.
  [[nodiscard]] virtual Evaluation finish() = 0;
  /// The seconds in which the GPU had something to do, over all problems so far.
  [[nodiscard]] virtual double busy_s() const { return 0.0; }
};

}  // namespace fatune
