#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/evaluator.hpp"
#include "engine/journaled_race.hpp"
#include "engine/race_counters.hpp"
#include "engine/run_log.hpp"
#include "measure/measurer.hpp"

namespace fatune {

/// One problem's race on one GPU: the race chooses the next candidate, the measurer takes its
/// sample, and the race records it. The contracts are those of Evaluator.
class ProblemRace {
 public:
  /// The problem must have begun on `measurer`. `measurer` and `log` must outlive the race. The
  /// budget starts now. `counters` may be null; otherwise they are read when the race is over.
  ProblemRace(Measurer& measurer, const RaceTerms& terms, RunLog& log,
              RaceCounters* counters = nullptr);

  [[nodiscard]] bool resume(const std::vector<JournalEvent>& events,
                            const std::vector<ResumedCandidate>& candidates);
  [[nodiscard]] std::optional<Outcome> admit(CandidateId id, const CandidateKernel& kernel);
  [[nodiscard]] bool work();
  void close();
  [[nodiscard]] Evaluation finish() const;

 private:
  [[nodiscard]] std::optional<Outcome> discard_warmup(CandidateId id, Extent extent);
  [[nodiscard]] std::optional<Outcome> warm_up_on_whole(MeasuredCandidate& candidate);
  [[nodiscard]] std::optional<Outcome> load(MeasuredCandidate& candidate);
  [[nodiscard]] std::optional<CandidateId> sampled_after(const Step& step);
  void take_sample(MeasuredCandidate& candidate, const Step& step);
  [[nodiscard]] bool recheck_next();
  [[nodiscard]] bool count_next();
  void count(MeasuredCandidate& candidate);

  Measurer& measurer_;
  RaceCounters* counters_;
  std::string counter_problem_;  ///< seen in this race
  JournaledRace race_;
};

}  // namespace fatune
