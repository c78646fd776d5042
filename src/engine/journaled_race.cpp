#include "engine/journaled_race.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/ranges.hpp"
#include "model/statistics.hpp"

namespace fatune {
namespace {

using Readings = std::span<const GpuReading>;

template <double GpuReading::*kMember>
std::vector<double> sorted(Readings readings) {
  std::vector<double> values = mapped(readings, kMember);
  std::ranges::sort(values);
  return values;
}

std::uint32_t all_clock_limits(Readings readings) {
  std::uint32_t limits = 0;
  for (const GpuReading& reading : readings) {
    limits |= reading.clock_limits;
  }
  return limits;
}

GpuReading median_reading(Readings readings) {
  return {median_of_sorted(sorted<&GpuReading::sm_mhz>(readings)),
          median_of_sorted(sorted<&GpuReading::power_w>(readings)),
          median_of_sorted(sorted<&GpuReading::temperature_c>(readings)),
          all_clock_limits(readings)};
}

/// The median readings of consecutive parts, whose lengths differ by at most one reading.
std::vector<GpuReading> timeline_of(Readings readings) {
  constexpr std::size_t kMostParts = 48;
  const std::size_t parts = std::min(kMostParts, readings.size());
  std::vector<GpuReading> timeline;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = readings.size() * i / parts;
    const std::size_t end = readings.size() * (i + 1) / parts;
    timeline.push_back(median_reading(readings.subspan(begin, end - begin)));
  }
  return timeline;
}

}  // namespace

std::optional<GpuConditions> summarise(std::span<const GpuReading> readings) {
  if (readings.empty()) {
    return std::nullopt;
  }
  const auto clocks = sorted<&GpuReading::sm_mhz>(readings);
  const auto power = sorted<&GpuReading::power_w>(readings);
  const auto temperature = sorted<&GpuReading::temperature_c>(readings);
  GpuConditions conditions;
  conditions.readings = static_cast<std::int64_t>(readings.size());
  conditions.sm_mhz_min = clocks.front();
  conditions.sm_mhz_median = median_of_sorted(clocks);
  conditions.sm_mhz_max = clocks.back();
  conditions.power_w_median = median_of_sorted(power);
  conditions.power_w_max = power.back();
  conditions.temperature_c_max = temperature.back();
  conditions.throttle_reasons = clock_limit_names(all_clock_limits(readings));
  conditions.timeline = timeline_of(readings);
  return conditions;
}

double CommonClock::at_first_clock(double us, const std::optional<GpuReading>& reading,
                                   bool on_part) {
  if (reading && reading->sm_mhz > 0.0) {
    last_mhz_ = reading->sm_mhz;
  }
  if (last_mhz_ == 0.0) {
    return us;
  }
  if (first_mhz_ == 0.0) {
    first_mhz_ = last_mhz_;
  }
  (on_part ? part_mhz_ : whole_mhz_).push_back(last_mhz_);
  return us * last_mhz_ / first_mhz_;
}

double CommonClock::median_mhz() const {
  std::vector<double> sorted_mhz = whole_mhz_.empty() ? part_mhz_ : whole_mhz_;
  std::ranges::sort(sorted_mhz);
  return sorted_mhz.empty() ? 0.0 : median_of_sorted(sorted_mhz);
}

void CommonClock::bring_to_median(RaceResult& result) const {
  const double mhz = median_mhz();
  const double factor = mhz > 0.0 ? first_mhz_ / mhz : 1.0;
  for (Standing& standing : result.standings) {
    scale(factor, standing.timing);
  }
  result.at_sm_mhz = mhz;
}

namespace {

JournalEvent event_of(JournalEvent::Kind kind, const MeasuredCandidate& candidate) {
  JournalEvent event;
  event.kind = kind;
  event.config = candidate.kernel.label;
  return event;
}

/// Replaces the findings on the part of the problem by those on the whole problem, for the kinds of
/// input that `whole` has.
void take_whole(const Verification& whole, Verification& verification) {
  const auto is_known = [&](const auto& of) {
    return is_among(of.input, whole.inputs, &ErrorStats::input);
  };
  std::erase_if(verification.inputs, is_known);
  std::erase_if(verification.rows, is_known);
  verification.inputs.insert(verification.inputs.begin(), whole.inputs.begin(), whole.inputs.end());
  verification.rows.insert(verification.rows.begin(), whole.rows.begin(), whole.rows.end());
  verification.method = whole.method;
}

/// Takes the medians of the second half of the launches, when the clock has settled.
void take_settled(const Samples& launches, JournalEvent& event) {
  const auto begin = std::ssize(launches.samples_us) / 2;
  event.us = median_of({launches.samples_us.begin() + begin, launches.samples_us.end()});
  std::vector<GpuReading> readings;
  for (const auto& reading : launches.readings | std::views::drop(begin)) {
    if (reading) {
      readings.push_back(*reading);
    }
  }
  if (!readings.empty()) {
    event.reading = median_reading(readings);
  }
}

/// Adds what the samples show. Returns whether that changed what is known.
bool learn(const Samples& samples, Verification& verification) {
  const bool differs = verification.deterministic && !samples.deterministic;
  verification.deterministic = verification.deterministic && samples.deterministic;
  if (samples.verification) {
    take_whole(*samples.verification, verification);
  }
  return differs || samples.verification;
}

}  // namespace

void JournaledRace::join(MeasuredCandidate candidate) {
  const double us = time_us(candidate.first_us, candidate.first_reading,
                            candidate.kernel.part_geometry.has_value());
  race_.admit(candidate.id, us > 0.0 ? std::optional<double>(us) : std::nullopt,
              candidate.kernel.kept_in_race, candidate.kernel.part_tail);
  candidates_.add(std::move(candidate));
}

void JournaledRace::enter(MeasuredCandidate candidate) {
  JournalEvent event = event_of(JournalEvent::Kind::admitted, candidate);
  event.artifact_key = candidate.kernel.artifact->key;
  event.launch = candidate.kernel.part_geometry.value_or(candidate.kernel.geometry);
  event.us = candidate.first_us;
  event.reading = candidate.first_reading;
  event.verification = candidate.verification;
  log_.journal(event);
  join(std::move(candidate));
}

void JournaledRace::admit(MeasuredCandidate candidate) {
  if (closed_) {
    reopen();
  }
  enter(std::move(candidate));
}

Step JournaledRace::next() {
  asked_s_ = elapsed_s();
  Step step = race_.next(asked_s_);
  asked_on_part_ = step.on_part;
  return step;
}

RaceResult JournaledRace::result() const {
  RaceResult result = race_.result();
  clock_.bring_to_median(result);
  if (result.sentinel_id) {
    result.sentinel = at(*result.sentinel_id).kernel.label;
  }
  if (final_) {
    final_->rank(result);
  }
  return result;
}

void JournaledRace::tell_sample(const JournalEvent& event, bool on_part) {
  if (event.reading) {
    readings_.push_back(*event.reading);
  }
  race_.record(time_us(event.us, event.reading, on_part), event.throttled);
}

void JournaledRace::record(MeasuredCandidate& candidate, const Samples& samples) {
  JournalEvent event = event_of(JournalEvent::Kind::sample, candidate);
  event.us = samples.samples_us.at(0);
  event.elapsed_s = asked_s_;
  if (!samples.readings.empty()) {
    event.reading = samples.readings.front();
  }
  event.throttled = event.reading && is_throttled(*event.reading);
  if (learn(samples, candidate.verification)) {
    event.verification = candidate.verification;
  }
  log_.journal(event);
  tell_sample(event, asked_on_part_);
}

void JournaledRace::withdraw(MeasuredCandidate& candidate, Outcome failure) {
  JournalEvent event = event_of(JournalEvent::Kind::failed, candidate);
  event.elapsed_s = asked_s_;
  event.outcome = failure;
  log_.journal(event);
  candidate.failure = std::move(failure);
  race_.withdraw(candidate.id);
  final_.reset();
}

void JournaledRace::close() {
  if (!std::exchange(closed_, true)) {
    JournalEvent event;
    event.kind = JournalEvent::Kind::closed;
    event.elapsed_s = elapsed_s();
    log_.journal(event);
    race_.close();
  }
}

std::optional<CandidateId> JournaledRace::next_alone() {
  if (policy_.sustain_s == 0.0) {
    return std::nullopt;
  }
  if (!final_) {
    begin_sustained_final(asked_s_);
  }
  return final_->next();
}

/// Begins the final, or notes why there is none. Below the power cap, a configuration that draws
/// less power does not get a higher clock. Times that are not compared at one clock are of short
/// launches or of problems that the memory bounds.
void JournaledRace::begin_sustained_final(double elapsed_s) {
  const std::optional<GpuConditions> seen = conditions();
  turn_began_s_ = elapsed_s;
  if (!at_one_clock_) {
    final_.emplace("its times are not compared at one clock");
  } else if (!seen || !is_among(kPowerCapName, seen->throttle_reasons)) {
    final_.emplace("the GPU was not at its power cap");
  } else {
    final_.emplace(race_.result().standings, policy_, elapsed_s);
  }
}

void JournaledRace::tell_turn(const JournalEvent& event) {
  final_->record({event.us, event.reading.value_or(GpuReading{}).sm_mhz});
}

void JournaledRace::record_turn(MeasuredCandidate& candidate, const Samples& launches) {
  JournalEvent event = event_of(JournalEvent::Kind::turn, candidate);
  event.elapsed_s = std::exchange(turn_began_s_, asked_s_);
  take_settled(launches, event);
  if (learn(launches, candidate.verification)) {
    event.verification = candidate.verification;
  }
  log_.journal(event);
  tell_turn(event);
}

void JournaledRace::start_over() {
  race_ = Race(policy_);
  clock_ = {};
  candidates_ = {};
  readings_.clear();
  final_.reset();
  spent_before_s_ = 0.0;
  closed_ = false;
}

/// Begins the race anew with all candidates. The run that this one resumes closed the race without
/// the candidate that joins now, because it knew the outcome of that candidate. The outcome has
/// been lost since (docs/store.md: damage).
void JournaledRace::reopen() {
  spdlog::debug("a configuration joined late: restarting its race");
  CandidateList<MeasuredCandidate> candidates = std::move(candidates_);
  start_over();
  log_.drop_journal();
  for (MeasuredCandidate& candidate : candidates) {
    const std::optional<Outcome> failure = std::exchange(candidate.failure, std::nullopt);
    const CandidateId id = candidate.id;
    enter(std::move(candidate));
    if (failure) {
      withdraw(at(id), *failure);
    }
  }
}

bool JournaledRace::replay(const std::vector<JournalEvent>& events,
                           const std::vector<ResumedCandidate>& candidates) {
  if (std::ranges::all_of(events,
                          [&](const JournalEvent& event) { return repeat(event, candidates); })) {
    return true;
  }
  spdlog::debug("earlier measurements do not fit this run: measuring again");
  start_over();
  return false;
}

bool JournaledRace::repeat(const JournalEvent& event,
                           const std::vector<ResumedCandidate>& candidates) {
  spent_before_s_ = std::max(spent_before_s_, event.elapsed_s);
  switch (event.kind) {
    case JournalEvent::Kind::admitted:
      return !closed_ && repeat_admission(event, candidates);
    case JournalEvent::Kind::sample:
      return repeat_sample(event);
    case JournalEvent::Kind::failed:
      return repeat_failure(event);
    case JournalEvent::Kind::closed:
      closed_ = true;
      race_.close();
      break;
    case JournalEvent::Kind::turn:
      return repeat_turn(event);
  }
  return true;
}

bool JournaledRace::repeat_admission(const JournalEvent& event,
                                     const std::vector<ResumedCandidate>& candidates) {
  const auto found = std::ranges::find_if(candidates, [&](const ResumedCandidate& candidate) {
    return candidate.kernel.label == event.config;
  });
  if (found == candidates.end() || candidates_.contains(found->id)) {
    return false;
  }
  join({.id = found->id,
        .kernel = found->kernel,
        .verification = event.verification.value_or(Verification{}),
        .first_us = event.us,
        .first_reading = event.reading});
  return true;
}

bool JournaledRace::repeat_sample(const JournalEvent& event) {
  const Step step = race_.next(event.elapsed_s);
  if (step.kind != Step::Kind::sample || at(step.candidate).kernel.label != event.config ||
      !(event.us > 0.0)) {
    return false;
  }
  if (event.verification) {
    at(step.candidate).verification = *event.verification;
  }
  tell_sample(event, step.on_part);
  return true;
}

bool JournaledRace::repeat_failure(const JournalEvent& event) {
  const auto candidate = std::ranges::find_if(candidates_, [&](const MeasuredCandidate& other) {
    return other.kernel.label == event.config;
  });
  if (candidate == candidates_.end() || !event.outcome) {
    return false;
  }
  candidate->failure = event.outcome;
  // The failure was found when a sample or the end was due, so next() had been called before it.
  static_cast<void>(race_.next(event.elapsed_s));
  race_.withdraw(candidate->id);
  final_.reset();
  return true;
}

bool JournaledRace::repeat_turn(const JournalEvent& event) {
  asked_s_ = event.elapsed_s;
  const bool has_ended = race_.next(event.elapsed_s).kind == Step::Kind::finished;
  const std::optional<CandidateId> id = has_ended ? next_alone() : std::nullopt;
  if (!id || at(*id).kernel.label != event.config || !(event.us > 0.0)) {
    return false;
  }
  if (event.verification) {
    at(*id).verification = *event.verification;
  }
  tell_turn(event);
  return true;
}

}  // namespace fatune
