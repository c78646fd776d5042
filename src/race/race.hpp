#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "race/race_policy.hpp"
#include "race/race_result.hpp"
#include "race/round.hpp"
#include "race/runner.hpp"
#include "race/sentinel.hpp"

namespace fatune {

/// What the caller of a race does next.
struct Step {
  enum class Kind {
    sample,    ///< take one sample of `candidate`; then record() it, or withdraw() the candidate
    wait,      ///< nobody needs a sample: admit() another candidate, or close()
    finished,  ///< result() is final
  };
  Kind kind = Kind::finished;
  RunnerId candidate = 0;
};

/// Decides, for one problem, whose sample is taken next, who cannot win any more, and when it is
/// enough. It takes no samples and reads no clock: the same calls give the same answers.
///
///     while (step = race.next(elapsed_s), step.kind != finished)
///       sample: race.record(take one sample of step.candidate, throttled?)
///       wait:   race.admit() when a candidate has been verified, race.close() when none is left
///
/// Rounds: each contender gives one sample, in shuffled order, so that a chip that changes speed
/// hits all alike. The fastest of the first round becomes the sentinel and stays in every round,
/// even when it cannot win. A round in which the sentinel is off, or a sample taken while the GPU
/// throttled, is retaken a bounded number of times, and then kept with a warning.
///
/// Racing: a candidate whose evidence (evidence.hpp) against the leader of its rounds reaches
/// 1 / false_elimination is eliminated and keeps what samples it has. When the contenders'
/// intervals are narrow enough and nobody is about to be eliminated, the best of them meet in the
/// finals: rounds of fresh samples, which alone give their times. The race's own samples would
/// flatter the winner, who was chosen for having lucky ones.
class Race {
 public:
  /// Throws std::invalid_argument when the policy makes no sense.
  explicit Race(RacePolicy policy);

  /// A candidate joins with the next round. Precondition: not closed.
  RunnerId admit();
  /// No more will join: the race may end.
  void close() { closed_ = true; }

  /// `elapsed_s`: time spent on this problem so far; what the budget limits. Asking again before
  /// record() or withdraw() gives the same candidate. Whatever the budget, every candidate gets a
  /// sample.
  [[nodiscard]] Step next(double elapsed_s);
  /// The sample that next() asked for. `throttled`: the GPU lowered its clocks, and not because of
  /// its power cap. Throws std::invalid_argument unless the time is positive and finite,
  /// std::logic_error when no sample was asked for.
  void record(double time_us, bool throttled);
  /// A candidate turned out to be broken: it gets no place, and whoever lost against it is in the
  /// race again, or anew in the finals. Callable at any time, after the end too: ask next() then.
  void withdraw(RunnerId candidate);

  /// Also before the end: then of what has been accepted so far, and for a candidate without an
  /// accepted sample of what the unfinished round has.
  [[nodiscard]] RaceResult result() const;

 private:
  enum class Phase { racing, finals, done };

  // race.cpp: the course of a round
  void begin_round();
  void end_round();
  void retake_round();
  void accept(bool off);
  void keep(const RoundSample& sample, bool off);
  [[nodiscard]] bool collects(RunnerId id) const;
  void place_bets();
  void bet(const RoundSample& sample);
  std::vector<RunnerId> eliminate(int round);
  bool reinstate_opponents_of(RunnerId withdrawn);
  void choose_leader();
  void watch_sentinel();

  // race_phases.cpp: who is in it, and when it ends
  [[nodiscard]] std::vector<RunnerId> members() const;
  [[nodiscard]] std::vector<RunnerId> contenders() const;
  [[nodiscard]] std::vector<RunnerId> unsampled() const;
  [[nodiscard]] bool over_budget() const;
  [[nodiscard]] bool may_abandon_round() const;
  [[nodiscard]] StopReason end_of_race() const;
  [[nodiscard]] StopReason end_of_finals() const;
  [[nodiscard]] StopReason judge(const std::vector<RunnerId>& sampled) const;
  [[nodiscard]] bool noise_is_due() const;
  [[nodiscard]] std::size_t least_samples(const std::vector<RunnerId>& sampled) const;
  [[nodiscard]] bool has_repeats(RunnerId id) const;
  [[nodiscard]] bool nobody_lags() const;
  [[nodiscard]] const Series& series_of(RunnerId id) const;
  void advance();
  void begin_finals(StopReason reason);
  void back_to_racing();
  void finish(StopReason reason);

  RacePolicy policy_;
  std::mt19937_64 random_;
  std::vector<Runner> runners_;
  std::vector<RunnerId> finalists_;
  std::optional<Round> round_;
  std::optional<RunnerId> leader_;
  std::optional<RunnerId> sentinel_;
  Sentinel sentinel_samples_;
  Phase phase_ = Phase::racing;
  StopReason stopped_because_ = StopReason::not_yet;
  bool closed_ = false;
  double elapsed_s_ = 0.0;
  int rounds_ = 0;
  int final_rounds_ = 0;
  int retaken_rounds_ = 0;
  std::int64_t samples_taken_ = 0;
  std::int64_t samples_retaken_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace fatune
