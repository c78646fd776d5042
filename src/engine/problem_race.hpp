#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/evaluator.hpp"
#include "engine/journaled_race.hpp"
#include "engine/run_log.hpp"
#include "inspect/counters/counter_fields.hpp"
#include "measure/measurer.hpp"
#include "model/device_limits.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// Reads the core figures of hardware counters in addition to a sweep's samples. A failure loses
/// the figures and has no other effect.
class RaceCounters {
 public:
  /// Reads them for the first `most` results of each problem's ranking, on a chip of architecture
  /// `arch`. `measurer` must outlive this.
  RaceCounters(Measurer& measurer, Arch arch, int most);

  /// The number of results of a problem's ranking to count; 0 once it is known that counters cannot
  /// be read.
  [[nodiscard]] int most() const noexcept { return problem_.empty() ? most_ : 0; }
  /// The reason why counters cannot be read at all; empty as long as they can.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  struct Reading {
    std::vector<CounterValue> counters;  ///< averages over some runs; empty: see warning, problem()
    std::string warning;                 ///< why this candidate has none; empty: no failure
  };
  /// Reads the counters of an admitted candidate. Precondition: most() > 0.
  [[nodiscard]] Reading read(CandidateId id);

 private:
  Measurer& measurer_;
  std::vector<CounterField> fields_;
  CountRequest request_;
  int most_;
  std::string problem_;
};

/// One problem's race on one GPU: the race chooses the next candidate, the measurer takes its
/// sample, and the race records it. The contracts are those of Evaluator.
class ProblemRace {
 public:
  /// The problem must have begun on `measurer`. `measurer` and `log` must outlive the race. The
  /// budget starts now. `counters` may be null; otherwise they are read when the race is over.
  ProblemRace(Measurer& measurer, const RaceTerms& terms, RunLog& log,
              RaceCounters* counters = nullptr);

  [[nodiscard]] bool resume(const std::vector<JournalEvent>& events,
                            const std::vector<ResumedCandidate>& candidates) {
    return race_.replay(events, candidates);
  }
  [[nodiscard]] std::optional<Outcome> admit(CandidateId id, const CandidateKernel& kernel);
  [[nodiscard]] bool work();
  void close() { race_.close(); }
  [[nodiscard]] Evaluation finish() const;

 private:
  [[nodiscard]] std::optional<Outcome> discard_warmup(CandidateId id, Extent extent);
  [[nodiscard]] std::optional<Outcome> warm_up_on_whole(MeasuredCandidate& candidate);
  [[nodiscard]] std::optional<Outcome> load(MeasuredCandidate& candidate);
  [[nodiscard]] std::optional<CandidateId> sampled_after(const Step& step);
  [[nodiscard]] bool make_ready(MeasuredCandidate& candidate, Extent extent);
  [[nodiscard]] std::optional<Samples> sample(MeasuredCandidate& candidate,
                                              const SampleRequest& request);
  void take_sample(MeasuredCandidate& candidate, const Step& step);
  [[nodiscard]] bool launch_alone();
  [[nodiscard]] bool recheck_next();
  [[nodiscard]] bool count_next();

  Measurer& measurer_;
  RaceCounters* counters_;
  std::string counter_problem_;  ///< seen in this race
  Samples launches_;             ///< of the turn under way in the sustained final
  JournaledRace race_;
};

}  // namespace fatune
