#include "engine/problem_race.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "measure/gpu_reading.hpp"

namespace fatune {
namespace {

RacePolicy race_policy(const MeasurePolicy& policy, std::optional<double> budget_s) {
  RacePolicy race;
  race.strategy = policy.strategy;
  race.repeats = std::max(1, policy.repeats);
  race.seed = policy.seed;
  race.confidence = policy.confidence;
  race.target_ci = policy.target_ci;
  race.budget_s = budget_s;
  return race;
}

JournalEvent event_of(JournalEvent::Kind kind, const Candidate& candidate) {
  JournalEvent event;
  event.kind = kind;
  event.config = candidate.label;
  return event;
}

MeasuringSummary summary_of(const RaceResult& result) {
  MeasuringSummary summary;
  summary.stopped_because = stop_reason_name(result.stopped_because);
  summary.rounds = result.rounds;
  summary.final_rounds = result.final_rounds;
  summary.samples_taken = result.samples_taken;
  summary.samples_retaken = result.samples_retaken;
  summary.drift_percent = result.drift_percent;
  summary.elapsed_s = result.elapsed_s;
  summary.warnings = result.warnings;
  return summary;
}

}  // namespace

ProblemRace::ProblemRace(Measurer& measurer, std::optional<double> budget_s, RunLog& log,
                         RaceCounters* counters)
    : measurer_(measurer),
      log_(log),
      counters_(counters),
      policy_(race_policy(measurer.policy(), budget_s)),
      race_(policy_) {}

double ProblemRace::elapsed_s() const {
  return spent_before_s_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

// --- Joining ---

RunnerId ProblemRace::join(Racer racer) {
  const double us = racer.first_us;
  const RunnerId id = race_.admit(us > 0.0 ? std::optional<double>(us) : std::nullopt,
                                  racer.candidate.kept_in_race);
  racers_.push_back(std::move(racer));
  return id;
}

std::optional<Outcome> ProblemRace::discard_warmup(TrialId trial) {
  const int warmup = measurer_.policy().warmup;
  return warmup > 0 ? measurer_.sample(static_cast<CandidateId>(trial), warmup).failure
                    : std::nullopt;
}

std::optional<Outcome> ProblemRace::admit(TrialId trial, const Candidate& candidate) {
  Admission admission = measurer_.admit(static_cast<CandidateId>(trial), candidate);
  if (!admission.failure) {
    admission.failure = discard_warmup(trial);
  }
  if (admission.failure) {
    return std::move(admission.failure);
  }
  if (closed_) {
    reopen();
  }
  Racer racer;
  racer.trial = trial;
  racer.candidate = candidate;
  racer.verification = std::move(admission.verification);
  racer.first_us = admission.first_us;
  racer.loaded = true;
  static_cast<void>(enter(std::move(racer)));
  return std::nullopt;
}

RunnerId ProblemRace::enter(Racer racer) {
  JournalEvent event = event_of(JournalEvent::Kind::admitted, racer.candidate);
  event.artifact_key = racer.candidate.artifact->key;
  event.launch = racer.candidate.geometry;
  event.us = racer.first_us;
  event.verification = racer.verification;
  log_.journal(event);
  return join(std::move(racer));
}

/// The run that this one resumes had closed the race without a trial whose outcome it knew; the
/// outcome is lost (docs/store.md: damage). All race anew, with it.
void ProblemRace::reopen() {
  spdlog::debug("a configuration joins late: its race begins anew");
  std::vector<Racer> racers = std::move(racers_);
  start_over();
  log_.drop_journal();
  for (Racer& racer : racers) {
    const std::optional<Outcome> failure = std::exchange(racer.failure, std::nullopt);
    const RunnerId id = enter(std::move(racer));
    if (failure) {
      withdraw(id, *failure);
    }
  }
}

void ProblemRace::close() {
  if (!std::exchange(closed_, true)) {
    JournalEvent event;
    event.kind = JournalEvent::Kind::closed;
    event.elapsed_s = elapsed_s();
    log_.journal(event);
    race_.close();
  }
}

// --- Going on ---

bool ProblemRace::resume(const std::vector<JournalEvent>& events,
                         const std::vector<ResumedTrial>& trials) {
  std::map<std::string, const ResumedTrial*> by_config;
  for (const ResumedTrial& trial : trials) {
    by_config.emplace(trial.candidate.label, &trial);
  }
  if (replay(events, by_config)) {
    return true;
  }
  spdlog::debug("what was measured before does not fit this run: measuring it again");
  start_over();
  return false;
}

bool ProblemRace::replay(const std::vector<JournalEvent>& events,
                         const std::map<std::string, const ResumedTrial*>& trials) {
  for (const JournalEvent& event : events) {
    spent_before_s_ = std::max(spent_before_s_, event.elapsed_s);
    bool fits = true;
    switch (event.kind) {
      case JournalEvent::Kind::admitted:
        fits = !closed_ && replay_admission(event, trials);
        break;
      case JournalEvent::Kind::sample:
        fits = replay_sample(event);
        break;
      case JournalEvent::Kind::failed:
        fits = replay_failure(event);
        break;
      case JournalEvent::Kind::closed:
        closed_ = true;
        race_.close();
        break;
    }
    if (!fits) {
      return false;
    }
  }
  return true;
}

bool ProblemRace::replay_admission(const JournalEvent& event,
                                   const std::map<std::string, const ResumedTrial*>& trials) {
  const auto found = trials.find(event.config);
  if (found == trials.end()) {
    return false;
  }
  Racer racer;
  racer.trial = found->second->trial;
  racer.candidate = found->second->candidate;
  racer.verification = event.verification.value_or(Verification{});
  racer.first_us = event.us;
  static_cast<void>(join(std::move(racer)));
  return true;
}

bool ProblemRace::replay_sample(const JournalEvent& event) {
  const Step step = race_.next(event.elapsed_s);
  if (step.kind != Step::Kind::sample ||
      racers_.at(step.candidate).candidate.label != event.config || !(event.us > 0.0)) {
    return false;
  }
  if (event.verification) {
    racers_.at(step.candidate).verification = *event.verification;
  }
  race_.record(event.us, event.throttled);
  if (event.reading) {
    conditions_.add(*event.reading);
  }
  return true;
}

bool ProblemRace::replay_failure(const JournalEvent& event) {
  const auto racer = std::find_if(racers_.begin(), racers_.end(), [&](const Racer& other) {
    return other.candidate.label == event.config;
  });
  if (racer == racers_.end() || !event.outcome) {
    return false;
  }
  racer->failure = event.outcome;
  // The failure was found when a sample, or the end, was due: the race was asked before.
  static_cast<void>(race_.next(event.elapsed_s));
  race_.withdraw(static_cast<RunnerId>(racer - racers_.begin()));
  return true;
}

void ProblemRace::start_over() {
  race_ = Race(policy_);
  racers_.clear();
  conditions_ = {};
  spent_before_s_ = 0.0;
  closed_ = false;
}

// --- Sampling ---

// A candidate that an earlier run admitted has to be loaded, and is verified again, when its turn
// comes.
std::optional<Outcome> ProblemRace::load(Racer& racer) {
  if (std::exchange(racer.loaded, true)) {
    return std::nullopt;
  }
  Admission admission = measurer_.admit(static_cast<CandidateId>(racer.trial), racer.candidate);
  return admission.failure ? std::move(admission.failure) : discard_warmup(racer.trial);
}

void ProblemRace::take_sample(RunnerId id, int round) {
  Racer& racer = racers_.at(id);
  if (std::optional<Outcome> failure = load(racer)) {
    withdraw(id, *std::move(failure));
    return;
  }
  Samples samples = measurer_.sample_in_round(static_cast<CandidateId>(racer.trial), 1, round);
  if (samples.failure) {
    withdraw(id, *std::move(samples.failure));
  } else {
    record(racer, samples);
  }
}

void ProblemRace::record(Racer& racer, const Samples& samples) {
  JournalEvent event = event_of(JournalEvent::Kind::sample, racer.candidate);
  event.us = samples.samples_us.at(0);
  event.elapsed_s = race_elapsed_s_;
  if (!samples.readings.empty()) {
    event.reading = samples.readings.front();
  }
  event.throttled = event.reading && is_throttled(*event.reading);
  racer.gate_lost = racer.gate_lost || (measurer_.policy().device_gate && !samples.gate_in_use);
  if (event.reading) {
    conditions_.add(*event.reading);
  }
  if (racer.verification.deterministic && !samples.deterministic) {
    racer.verification.deterministic = false;
    event.verification = racer.verification;
  }
  log_.journal(event);
  race_.record(event.us, event.throttled);
}

void ProblemRace::withdraw(RunnerId id, Outcome failure) {
  JournalEvent event = event_of(JournalEvent::Kind::failed, racers_.at(id).candidate);
  event.elapsed_s = race_elapsed_s_;
  event.outcome = failure;
  log_.journal(event);
  racers_.at(id).failure = std::move(failure);
  race_.withdraw(id);
}

bool ProblemRace::work() {
  race_elapsed_s_ = elapsed_s();
  const Step step = race_.next(race_elapsed_s_);
  switch (step.kind) {
    case Step::Kind::sample:
      take_sample(step.candidate, step.round);
      return true;
    case Step::Kind::wait:
      return false;
    case Step::Kind::finished:
      break;
  }
  return recheck_next() || count_next();
}

// --- The end ---

/// The entries that decide the head of the ranking; with a fixed count, where none is dropped, all.
bool ProblemRace::needs_recheck(const CandidateResult& result) const {
  const Racer& racer = racers_.at(result.candidate);
  const bool counts =
      policy_.strategy == Strategy::exhaustive || result.finalist || result.tie_group == 1;
  return racer.loaded && !racer.checked && !racer.failure && result.place > 0 && counts;
}

bool ProblemRace::recheck_next() {
  const std::vector<CandidateResult> results = race_.result().candidates;
  const auto next = std::find_if(results.begin(), results.end(),
                                 [&](const auto& result) { return needs_recheck(result); });
  if (next == results.end()) {
    return false;
  }
  Racer& racer = racers_.at(next->candidate);
  racer.checked = true;
  if (auto failure = measurer_.recheck(static_cast<CandidateId>(racer.trial))) {
    withdraw(next->candidate, *std::move(failure));
  }
  return true;
}

/// After all samples: reading counters disturbs the chip, and may take longer than the race.
bool ProblemRace::count_next() {
  const int most = counters_ == nullptr ? 0 : counters_->most();
  const std::vector<CandidateResult> results = race_.result().candidates;
  const auto next = std::find_if(results.begin(), results.end(), [&](const auto& result) {
    const Racer& racer = racers_.at(result.candidate);
    return result.place > 0 && result.place <= most && !racer.counted && !racer.failure;
  });
  if (next == results.end()) {
    return false;
  }
  Racer& racer = racers_.at(next->candidate);
  racer.counted = true;
  if (std::optional<Outcome> failure = load(racer)) {
    withdraw(next->candidate, *std::move(failure));
  } else {
    count(racer);
  }
  return true;
}

void ProblemRace::count(Racer& racer) {
  RaceCounters::Reading reading = counters_->read(static_cast<CandidateId>(racer.trial));
  racer.counters = std::move(reading.counters);
  racer.counter_warning = std::move(reading.warning);
  counter_problem_ = counters_->problem();
}

Outcome ProblemRace::outcome_of(const Racer& racer, const CandidateResult& result) const {
  Measured measured{result.timing, racer.verification, racer.counters};
  measured.timing.warnings = result.warnings;
  if (!racer.counter_warning.empty()) {
    measured.timing.warnings.push_back(racer.counter_warning);
  }
  if (racer.gate_lost) {
    measured.timing.warnings.emplace_back("samples were taken without the device gate");
  }
  return measured;
}

Evaluation ProblemRace::finish() const {
  const RaceResult result = race_.result();
  Evaluation evaluation;
  for (const CandidateResult& candidate : result.candidates) {
    const Racer& racer = racers_.at(candidate.candidate);
    if (racer.failure) {
      evaluation.results.push_back({racer.trial, *racer.failure, 0, 0});
    } else if (candidate.place > 0) {
      evaluation.results.push_back({racer.trial, outcome_of(racer, candidate), candidate.place,
                                    candidate.tie_group, candidate.to_fastest});
    }
  }
  evaluation.summary = summary_of(result);
  if (result.sentinel) {
    evaluation.summary->sentinel = racers_.at(*result.sentinel).candidate.label;
  }
  if (!counter_problem_.empty()) {
    evaluation.summary->warnings.push_back("no hardware counters: " + counter_problem_);
  }
  evaluation.conditions = conditions_.summary();
  return evaluation;
}

}  // namespace fatune
