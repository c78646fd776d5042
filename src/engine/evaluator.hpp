#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/candidate_id.hpp"
#include "core/device_limits.hpp"
#include "core/journal_event.hpp"
#include "core/matmul_rate.hpp"
#include "core/outcome.hpp"
#include "core/statistics.hpp"
#include "engine/run_log.hpp"
#include "measure/measurer.hpp"
#include "report/report.hpp"

namespace fatune {

/// A candidate that an earlier, interrupted run has admitted.
struct ResumedCandidate {
  CandidateId id{};
  CandidateKernel kernel;
};

/// How a candidate that was admitted has ended.
struct CandidateOutcome {
  CandidateId candidate{};
  Outcome outcome;
  int place = 0;      ///< 1 is the fastest; 0: none was given
  int tie_group = 0;  ///< those of one group cannot be told apart; 0: as place
  std::optional<MedianInterval> to_fastest{};  ///< as Result's
};

struct Evaluation {
  std::vector<CandidateOutcome>
      results;  ///< of each admitted candidate about which something is known
  std::optional<MeasuringSummary> summary;
  std::optional<GpuConditions> conditions;
  std::optional<MatmulRate> matmul;
};

/// On what terms a problem is raced.
struct RaceTerms {
  std::optional<double> budget_s;
  std::optional<int> repeats;  ///< ProblemPlan::repeats
  /// That early rounds are on: each candidate then has a launch there. Absent: none.
  std::optional<Problem> part = {};
  std::optional<double> part_share = {};  ///< of the problem's work; with `part`
  /// Times are compared at one clock of the SMs (common_clock.hpp).
  bool at_one_clock = false;
};

/// Finds out how long compiled configurations take: by measuring, or by estimating. One problem at
/// a time: begin_problem(), resume() at most once, then admit() and work() in any order, close()
/// after the last admit(), work() until it returns false, finish(). An Error ends the command.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

  /// The limits of the GPU, with the memory that is free.
  [[nodiscard]] virtual const DeviceLimits& limits() const = 0;
  /// `log` is told everything that resuming after a crash needs, and must live until finish().
  virtual void begin_problem(const Problem& problem, const RaceTerms& terms, RunLog& log) = 0;
  /// Goes on where an interrupted run was. False: the events make no sense here, and nothing of
  /// them is used. `candidates`: those that the events name as admitted.
  [[nodiscard]] virtual bool resume(const std::vector<JournalEvent>& /*events*/,
                                    const std::vector<ResumedCandidate>& /*candidates*/) {
    return false;
  }
  /// Takes a candidate in. Its outcome, if that is known already; else finish() has it.
  /// Precondition: `result` has the artifact's facts, and a block fits an SM.
  [[nodiscard]] virtual std::optional<Outcome> admit(CandidateId id, const Result& result,
                                                     const CandidateKernel& kernel) = 0;
  /// Does a small piece of work, a sample at most. False: there is nothing to do, until another
  /// candidate is admitted or, after close(), for good.
  [[nodiscard]] virtual bool work() { return false; }
  virtual void close() {}
  /// Whether the evaluator itself tells an observer when the admitted candidate is done. False:
  /// once it is admitted, it counts as done.
  [[nodiscard]] virtual bool tells_when_done(CandidateId /*id*/) const { return false; }
  /// What is known so far of admitted candidates, for a search that learns from it; times may
  /// change later.
  [[nodiscard]] virtual std::vector<CandidateOutcome> known_so_far() const { return {}; }
  /// Also before the end: then with what is known so far.
  [[nodiscard]] virtual Evaluation finish() = 0;
  /// Seconds in which the GPU had something to do, of all problems so far.
  [[nodiscard]] virtual double busy_s() const { return 0.0; }
};

}  // namespace fatune
