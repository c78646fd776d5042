#pragma once

#include <optional>

#include "race/race_policy.hpp"
#include "race/race_result.hpp"
#include "race/race_state.hpp"
#include "race/round_course.hpp"

namespace fatune {

/// The next action of a race's caller.
struct Step {
  enum class Kind {
    sample,    ///< take one sample of `candidate`; then record() it, or withdraw() the candidate
    wait,      ///< no candidate needs a sample: admit() another candidate, or close()
    finished,  ///< result() is final
  };
  Kind kind = Kind::finished;
  CandidateId candidate{};
  int round = 0;         ///< of a sample: how many rounds were accepted before this one
  bool on_part = false;  ///< it is to be of the part of the problem, not of the whole
  /// The candidate whose sample, of the same kind, is likely to be next: it may be begun before
  /// this one is recorded. Empty: what is next depends on this one.
  std::optional<CandidateId> then = {};
};

/// Decides, for one problem, which candidate is sampled next, which cannot win any more, and when
/// the samples suffice. It takes no samples and reads no clock: the same calls give the same
/// answers.
///
///     while (step = race.next(elapsed_s), step.kind != finished)
///       sample: race.record(take one sample of step.candidate, throttled?)
///       wait:   race.admit() when a candidate has been verified, race.close() when none is left
///
/// A killed caller can resume with a journal of its calls of admit(), record(), withdraw() and
/// close(), each with the elapsed_s of the last next() before it. It repeats them in their order to
/// a new race of the same policy, with next(elapsed_s) before each. Other calls of next() leave no
/// trace, provided that none of admit(), withdraw() of another and close() comes between a next()
/// that asks for a sample and its record(). Builds with another standard library may shuffle
/// differently: then next() asks for another candidate than the journal has.
///
/// Rounds: each contender gives one sample, in shuffled order, so that a chip that changes speed
/// hits all alike. The fastest of the first round becomes the sentinel and stays in every round,
/// even when it cannot win. A round in which the sentinel is off, or a sample taken while the GPU
/// throttled, is retaken a bounded number of times, and then kept with a warning.
///
/// Racing: a candidate whose evidence (evidence.hpp) against the leader of its rounds, and against
/// the fastest at admission, reaches 1 / false_elimination is eliminated and keeps what samples it
/// has. When the contenders are few enough for the finals, or the leading ones' intervals narrow
/// enough to choose, those that can still win meet in the finals: rounds of fresh samples, which
/// alone give their times. The race's own samples would be biased in favour of the winner, which
/// was chosen partly for lucky ones. The finals go on until the winner and those tied with it are
/// known to target_ci; a candidate eliminated there leaves them.
///
/// Where the policy has a part, the race begins on a part of the problem, and so do admissions. All
/// margins are wider there by part_margin. Those that are left race on the whole problem with no
/// evidence, or meet in the finals at once when they are few enough. Samples of the one are never
/// compared with those of the other. A budget that is used up leaves one round on the whole
/// problem.
///
/// While the contenders are few enough for the finals, only those with few samples are sampled,
/// with the leader: one each while others may join, and least_race_samples in the end.
class Race {
 public:
  /// Throws std::invalid_argument when the policy makes no sense.
  explicit Race(RacePolicy policy);

  /// A candidate joins with the next round that begins. `admission_us`: one sample of it, taken
  /// before; evidence, and its time if it is eliminated on it. `kept_in`: whatever its times, it
  /// stays in the race and in the finals, so that its time is as well known as the winner's. Throws
  /// std::logic_error when closed, std::invalid_argument when it has joined already, or unless the
  /// time is positive and finite.
  void admit(CandidateId id, std::optional<double> admission_us = {}, bool kept_in = false,
             PartTail part_tail = {});
  /// No more will join: the race may end.
  void close() { state_.closed = true; }

  /// `elapsed_s`: time spent on this problem so far; what the budget limits. Asking again before
  /// record() or withdraw() gives the same candidate. Whatever the budget, every candidate gets a
  /// sample.
  [[nodiscard]] Step next(double elapsed_s);
  /// The sample that next() asked for. `throttled`: the GPU lowered its clocks, and not because of
  /// its power cap. Throws std::invalid_argument unless the time is positive and finite,
  /// std::logic_error when no sample was asked for.
  void record(double time_us, bool throttled);
  /// A candidate turned out to be broken: it gets no place, and candidates that lost against it are
  /// in the race again, or anew in the finals. Callable at any time, after the end too: ask next()
  /// then.
  void withdraw(CandidateId candidate);

  /// Also before the end: then of what has been accepted so far, and for a candidate without an
  /// accepted sample of what the unfinished round has, or its admission.
  [[nodiscard]] RaceResult result() const;

 private:
  void begin_round();
  void advance();
  void end_complete_rounds();
  void end_round();
  void accept(bool off);
  void heed_admissions();

  RaceState state_;
  RoundCourse course_;
};

}  // namespace fatune
