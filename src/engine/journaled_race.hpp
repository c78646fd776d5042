#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/evaluator.hpp"
#include "engine/run_log.hpp"
#include "measure/measurer.hpp"
#include "model/candidate_list.hpp"
#include "model/device_limits.hpp"
#include "model/journal_event.hpp"
#include "model/report.hpp"
#include "race/race.hpp"
#include "race/race_state.hpp"
#include "race/sustained_final.hpp"

namespace fatune {

/// Summarises the NVML readings that were taken with samples. Empty: there are none.
[[nodiscard]] std::optional<GpuConditions> summarise(std::span<const GpuReading> readings);

/// Scales the samples of a race to one SM clock, so that a clock that changes between launches does
/// not decide between configurations (docs/measurement.md).
class CommonClock {
 public:
  /// The time that a sample would have taken at the clock of the first one. A sample without a
  /// reading counts as taken at the clock of the previous one. `on_part`: whether it is of the part
  /// of the problem.
  [[nodiscard]] double at_first_clock(double us, const std::optional<GpuReading>& reading,
                                      bool on_part);
  /// The median SM clock of the samples of the whole problem, or of its part while there are no
  /// others. 0: no clock is known.
  [[nodiscard]] double median_mhz() const;
  /// Scales times from the first sample's clock to the median clock, and notes it.
  void bring_to_median(RaceResult& result) const;

 private:
  double first_mhz_ = 0.0;
  double last_mhz_ = 0.0;
  std::vector<double> part_mhz_;
  std::vector<double> whole_mhz_;
};

/// A candidate in a race on a GPU.
struct MeasuredCandidate {
  CandidateId id{};
  CandidateKernel kernel{};
  Verification verification{};
  double first_us = 0.0;
  std::optional<GpuReading> first_reading{};
  bool loaded = false;        ///< admitted by the measurer in this process
  bool ran_on_whole = false;  ///< has run on the whole problem in this process
  bool checked = false;       ///< its output was checked again after the last sample
  bool counted = false;       ///< its hardware counters were read, or reading them was tried
  bool gate_lost = false;
  std::vector<CounterValue> counters{};
  std::string counter_warning{};
  std::optional<Outcome> failure{};
};

/// Writes all events of a race to the log's journal, resumes the race from the journal of an
/// interrupted run, and keeps track of its time.
class JournaledRace {
 public:
  /// `log` must outlive the race. The budget of `policy` starts now. `at_one_clock`:
  /// RaceTerms::at_one_clock.
  JournaledRace(const RacePolicy& policy, bool at_one_clock, RunLog& log)
      : log_(log), policy_(policy), at_one_clock_(at_one_clock), race_(policy) {}

  /// Repeats the events without writing them. Returns false if they do not fit; the race then
  /// begins anew. `candidates`: those that the events name as admitted.
  [[nodiscard]] bool replay(const std::vector<JournalEvent>& events,
                            const std::vector<ResumedCandidate>& candidates);

  void admit(MeasuredCandidate candidate);
  [[nodiscard]] Step next();
  /// Records the sample that next() asked for.
  void record(MeasuredCandidate& candidate, const Samples& samples);
  void withdraw(MeasuredCandidate& candidate, Outcome failure);
  void close();
  /// The candidate whose turn it is to run alone. Empty: the sustained final is over, or there is
  /// none. Precondition: next() has said that the race is finished.
  [[nodiscard]] std::optional<CandidateId> next_alone();
  /// Records the turn of next_alone(): its launches, at least one.
  void record_turn(MeasuredCandidate& candidate, const Samples& launches);

  [[nodiscard]] MeasuredCandidate& at(CandidateId id) { return candidates_.at(id); }
  [[nodiscard]] const MeasuredCandidate& at(CandidateId id) const { return candidates_.at(id); }
  [[nodiscard]] RaceResult result() const;
  [[nodiscard]] const RacePolicy& policy() const { return policy_; }
  [[nodiscard]] std::optional<GpuConditions> conditions() const { return summarise(readings_); }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double elapsed_s() const {
    return spent_before_s_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// The time of a sample as the race records it: at the first sample's clock if times are compared
  /// at one clock.
  [[nodiscard]] double time_us(double us, const std::optional<GpuReading>& reading, bool on_part) {
    return at_one_clock_ ? clock_.at_first_clock(us, reading, on_part) : us;
  }
  void tell_sample(const JournalEvent& event, bool on_part);
  void tell_turn(const JournalEvent& event);
  void begin_sustained_final(double elapsed_s);
  void join(MeasuredCandidate candidate);
  void enter(MeasuredCandidate candidate);
  void start_over();
  void reopen();
  [[nodiscard]] bool repeat(const JournalEvent& event,
                            const std::vector<ResumedCandidate>& candidates);
  [[nodiscard]] bool repeat_admission(const JournalEvent& event,
                                      const std::vector<ResumedCandidate>& candidates);
  [[nodiscard]] bool repeat_sample(const JournalEvent& event);
  [[nodiscard]] bool repeat_failure(const JournalEvent& event);
  [[nodiscard]] bool repeat_turn(const JournalEvent& event);

  RunLog& log_;
  RacePolicy policy_;
  bool at_one_clock_;
  Race race_;
  CommonClock clock_;
  CandidateList<MeasuredCandidate> candidates_;
  std::vector<GpuReading> readings_;
  std::optional<SustainedFinal> final_;  ///< absent: it has not begun
  Clock::time_point start_ = Clock::now();
  double spent_before_s_ = 0.0;  ///< time that the run took which this one resumes
  double asked_s_ = 0.0;         ///< when next() was last called
  double turn_began_s_ = 0.0;    ///< when the turn of the sustained final began
  bool asked_on_part_ = false;   ///< whether it asked for a sample of the part
  bool closed_ = false;
};

}  // namespace fatune
