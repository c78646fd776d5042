#pragma once

#include <optional>

#include "race/race_policy.hpp"
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
  int round = 0;         ///< for a sample: the number of rounds accepted before it
  bool on_part = false;  ///< the sample is to be of the part of the problem, not of the whole
  /// The candidate that is likely to be sampled next, with a sample of the same kind. Its sample
  /// may be started before this one is recorded. Empty: the next step depends on this sample.
  std::optional<CandidateId> then = {};
};

/// Decides, for one problem, which candidate is sampled next, which can no longer win, and when the
/// samples suffice. It takes no samples and reads no clock: the same calls give the same answers.
///
///     while (step = race.next(elapsed_s), step.kind != finished)
///       sample: race.record(take one sample of step.candidate, throttled?)
///       wait:   race.admit() when a candidate has been verified, race.close() when none is left
///
/// A killed caller can resume from a journal of its calls of admit(), record(), withdraw() and
/// close(), each with the elapsed_s of the last next() before it. It repeats them in order on a new
/// race with the same policy, and calls next(elapsed_s) before each. Other calls of next() leave no
/// trace, provided that no admit(), no close() and no withdraw() of another candidate comes between
/// a next() that asks for a sample and its record(). Builds with another standard library may
/// shuffle differently; next() then asks for another candidate than the journal has.
///
/// Rounds: each contender gives one sample, in shuffled order, so that a chip that changes speed
/// affects all alike. The fastest candidate of the first round becomes the sentinel and stays in
/// every round, even when it cannot win. A round in which the sentinel is off, or a sample taken
/// while the GPU throttled, is retaken a bounded number of times, and then kept with a warning.
///
/// Racing: a candidate is eliminated when its evidence (race_policy.hpp) against the leader of its
/// rounds and against the fastest at admission reaches 1 / false_elimination. It keeps the samples
/// it has. When the contenders are few enough for the finals, or the intervals of the leading ones
/// are narrow enough to choose, those that can still win meet in the finals. These are rounds of
/// fresh samples, and the finalists' times come from them alone. The race's own samples would be
/// biased in favour of the winner, which was chosen partly for lucky ones. The finals go on until
/// the times of the winner and of those tied with it are known to target_ci. A candidate eliminated
/// in the finals leaves them.
///
/// Part: if the policy has a part, the race and its admissions begin on a part of the problem. All
/// margins are wider there by part_margin. The candidates that are left race on the whole problem
/// without evidence, or meet in the finals at once if they are few enough. Samples of the part are
/// never compared with samples of the whole. If the budget is used up, one round on the whole
/// problem is still taken.
///
/// While the contenders are few enough for the finals, only the leader and those with few samples
/// are sampled: until they have one each while others may join, and least_race_samples in the end.
class Race {
 public:
  /// Throws std::invalid_argument if the policy is invalid (check_policy).
  explicit Race(RacePolicy policy);

  /// Adds a candidate, which joins with the next round that begins. `admission_us`: one sample of
  /// it, taken before. It counts as evidence, and gives the time of a candidate that is eliminated
  /// on it. `kept_in`: the candidate stays in the race and in the finals whatever its times, so
  /// that its time is as well known as the winner's. Throws std::logic_error if the race is closed,
  /// std::invalid_argument if the candidate has joined already or the time is not positive and
  /// finite.
  void admit(CandidateId id, std::optional<double> admission_us = {}, bool kept_in = false,
             PartTail part_tail = {});
  /// Declares that no more candidates will join. The race may end from then on.
  void close() { state_.closed = true; }

  /// Returns the next step. `elapsed_s`: the time spent on this problem so far, which the budget
  /// limits. Repeated calls before record() or withdraw() return the same candidate. Every
  /// candidate gets a sample, whatever the budget.
  [[nodiscard]] Step next(double elapsed_s);
  /// Records the sample that next() asked for. `throttled`: the GPU lowered its clocks, and not
  /// because of its power cap. Throws std::invalid_argument if the time is not positive and finite,
  /// std::logic_error if no sample was asked for.
  void record(double time_us, bool throttled);
  /// Withdraws a candidate that turned out to be broken. It gets no place. Candidates that lost
  /// against it are in the race again; if the finals are affected, they begin anew. May be called
  /// at any time, even after the end; call next() again afterwards.
  void withdraw(CandidateId candidate);

  /// The result. Before the end it covers the rounds accepted so far; a candidate without an
  /// accepted sample then has its sample of the unfinished round, or its admission sample.
  [[nodiscard]] RaceResult result() const;

 private:
  void begin_round();
  void end_complete_rounds();
  void end_round();
  void accept(bool off);
  void heed_admissions();

  RaceState state_;
  RoundCourse course_;
};

}  // namespace fatune
