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

JournalEvent event_of(JournalEvent::Kind kind, const CandidateKernel& kernel) {
  JournalEvent event;
  event.kind = kind;
  event.config = kernel.label;
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

void ProblemRace::join(MeasuredCandidate candidate) {
  const double us = candidate.first_us;
  race_.admit(candidate.id, us > 0.0 ? std::optional<double>(us) : std::nullopt,
              candidate.kernel.kept_in_race);
  candidates_.add(std::move(candidate));
}

std::optional<Outcome> ProblemRace::discard_warmup(CandidateId id) {
  const int warmup = measurer_.policy().warmup;
  return warmup > 0 ? measurer_.sample(id, warmup).failure : std::nullopt;
}

std::optional<Outcome> ProblemRace::admit(CandidateId id, const CandidateKernel& kernel) {
  Admission admission = measurer_.admit(id, kernel);
  if (!admission.failure) {
    admission.failure = discard_warmup(id);
  }
  if (admission.failure) {
    return std::move(admission.failure);
  }
  if (closed_) {
    reopen();
  }
  MeasuredCandidate candidate;
  candidate.id = id;
  candidate.kernel = kernel;
  candidate.verification = std::move(admission.verification);
  candidate.first_us = admission.first_us;
  candidate.loaded = true;
  enter(std::move(candidate));
  return std::nullopt;
}

void ProblemRace::enter(MeasuredCandidate candidate) {
  JournalEvent event = event_of(JournalEvent::Kind::admitted, candidate.kernel);
  event.artifact_key = candidate.kernel.artifact->key;
  event.launch = candidate.kernel.geometry;
  event.us = candidate.first_us;
  event.verification = candidate.verification;
  log_.journal(event);
  join(std::move(candidate));
}

/// The run that this one resumes had closed the race without a candidate whose outcome it knew; the
/// outcome is lost (docs/store.md: damage). All race anew, with it.
void ProblemRace::reopen() {
  spdlog::debug("a configuration joins late: its race begins anew");
  CandidateList<MeasuredCandidate> candidates = std::move(candidates_);
  start_over();
  log_.drop_journal();
  for (MeasuredCandidate& candidate : candidates) {
    const std::optional<Outcome> failure = std::exchange(candidate.failure, std::nullopt);
    const CandidateId id = candidate.id;
    enter(std::move(candidate));
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
                         const std::vector<ResumedCandidate>& candidates) {
  std::map<std::string, const ResumedCandidate*> by_config;
  for (const ResumedCandidate& candidate : candidates) {
    by_config.emplace(candidate.kernel.label, &candidate);
  }
  if (replay(events, by_config)) {
    return true;
  }
  spdlog::debug("what was measured before does not fit this run: measuring it again");
  start_over();
  return false;
}

bool ProblemRace::replay(const std::vector<JournalEvent>& events,
                         const std::map<std::string, const ResumedCandidate*>& candidates) {
  for (const JournalEvent& event : events) {
    spent_before_s_ = std::max(spent_before_s_, event.elapsed_s);
    bool fits = true;
    switch (event.kind) {
      case JournalEvent::Kind::admitted:
        fits = !closed_ && replay_admission(event, candidates);
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

bool ProblemRace::replay_admission(
    const JournalEvent& event, const std::map<std::string, const ResumedCandidate*>& candidates) {
  const auto found = candidates.find(event.config);
  if (found == candidates.end()) {
    return false;
  }
  MeasuredCandidate candidate;
  candidate.id = found->second->id;
  candidate.kernel = found->second->kernel;
  candidate.verification = event.verification.value_or(Verification{});
  candidate.first_us = event.us;
  join(std::move(candidate));
  return true;
}

bool ProblemRace::replay_sample(const JournalEvent& event) {
  const Step step = race_.next(event.elapsed_s);
  if (step.kind != Step::Kind::sample ||
      candidates_.at(step.candidate).kernel.label != event.config || !(event.us > 0.0)) {
    return false;
  }
  if (event.verification) {
    candidates_.at(step.candidate).verification = *event.verification;
  }
  race_.record(event.us, event.throttled);
  if (event.reading) {
    conditions_.add(*event.reading);
  }
  return true;
}

bool ProblemRace::replay_failure(const JournalEvent& event) {
  const auto candidate = std::find_if(
      candidates_.begin(), candidates_.end(),
      [&](const MeasuredCandidate& other) { return other.kernel.label == event.config; });
  if (candidate == candidates_.end() || !event.outcome) {
    return false;
  }
  candidate->failure = event.outcome;
  // The failure was found when a sample, or the end, was due: the race was asked before.
  static_cast<void>(race_.next(event.elapsed_s));
  race_.withdraw(candidate->id);
  return true;
}

void ProblemRace::start_over() {
  race_ = Race(policy_);
  candidates_ = {};
  conditions_ = {};
  spent_before_s_ = 0.0;
  closed_ = false;
}

// --- Sampling ---

// A candidate that an earlier run admitted has to be loaded, and is verified again, when its turn
// comes.
std::optional<Outcome> ProblemRace::load(MeasuredCandidate& candidate) {
  if (std::exchange(candidate.loaded, true)) {
    return std::nullopt;
  }
  Admission admission = measurer_.admit(candidate.id, candidate.kernel);
  return admission.failure ? std::move(admission.failure) : discard_warmup(candidate.id);
}

void ProblemRace::take_sample(CandidateId id, int round) {
  MeasuredCandidate& candidate = candidates_.at(id);
  if (std::optional<Outcome> failure = load(candidate)) {
    withdraw(id, *std::move(failure));
    return;
  }
  Samples samples = measurer_.sample_in_round(candidate.id, 1, round);
  if (samples.failure) {
    withdraw(id, *std::move(samples.failure));
  } else {
    record(candidate, samples);
  }
}

void ProblemRace::record(MeasuredCandidate& candidate, const Samples& samples) {
  JournalEvent event = event_of(JournalEvent::Kind::sample, candidate.kernel);
  event.us = samples.samples_us.at(0);
  event.elapsed_s = race_elapsed_s_;
  if (!samples.readings.empty()) {
    event.reading = samples.readings.front();
  }
  event.throttled = event.reading && is_throttled(*event.reading);
  candidate.gate_lost =
      candidate.gate_lost || (measurer_.policy().device_gate && !samples.gate_in_use);
  if (event.reading) {
    conditions_.add(*event.reading);
  }
  if (candidate.verification.deterministic && !samples.deterministic) {
    candidate.verification.deterministic = false;
    event.verification = candidate.verification;
  }
  log_.journal(event);
  race_.record(event.us, event.throttled);
}

void ProblemRace::withdraw(CandidateId id, Outcome failure) {
  JournalEvent event = event_of(JournalEvent::Kind::failed, candidates_.at(id).kernel);
  event.elapsed_s = race_elapsed_s_;
  event.outcome = failure;
  log_.journal(event);
  candidates_.at(id).failure = std::move(failure);
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
bool ProblemRace::needs_recheck(const Standing& standing) const {
  const MeasuredCandidate& candidate = candidates_.at(standing.candidate);
  const bool counts =
      policy_.strategy == Strategy::exhaustive || standing.finalist || standing.tie_group == 1;
  return candidate.loaded && !candidate.checked && !candidate.failure && standing.place > 0 &&
         counts;
}

bool ProblemRace::recheck_next() {
  const std::vector<Standing> standings = race_.result().standings;
  const auto next = std::find_if(standings.begin(), standings.end(),
                                 [&](const auto& standing) { return needs_recheck(standing); });
  if (next == standings.end()) {
    return false;
  }
  MeasuredCandidate& candidate = candidates_.at(next->candidate);
  candidate.checked = true;
  if (auto failure = measurer_.recheck(candidate.id)) {
    withdraw(next->candidate, *std::move(failure));
  }
  return true;
}

/// After all samples: reading counters disturbs the chip, and may take longer than the race.
bool ProblemRace::count_next() {
  const int most = counters_ == nullptr ? 0 : counters_->most();
  const std::vector<Standing> standings = race_.result().standings;
  const auto next = std::find_if(standings.begin(), standings.end(), [&](const auto& standing) {
    const MeasuredCandidate& candidate = candidates_.at(standing.candidate);
    return standing.place > 0 && standing.place <= most && !candidate.counted && !candidate.failure;
  });
  if (next == standings.end()) {
    return false;
  }
  MeasuredCandidate& candidate = candidates_.at(next->candidate);
  candidate.counted = true;
  if (std::optional<Outcome> failure = load(candidate)) {
    withdraw(next->candidate, *std::move(failure));
  } else {
    count(candidate);
  }
  return true;
}

void ProblemRace::count(MeasuredCandidate& candidate) {
  RaceCounters::Reading reading = counters_->read(candidate.id);
  candidate.counters = std::move(reading.counters);
  candidate.counter_warning = std::move(reading.warning);
  counter_problem_ = counters_->problem();
}

Outcome ProblemRace::outcome_of(const MeasuredCandidate& candidate,
                                const Standing& standing) const {
  Measured measured{standing.timing, candidate.verification, candidate.counters};
  measured.timing.warnings = standing.warnings;
  if (!candidate.counter_warning.empty()) {
    measured.timing.warnings.push_back(candidate.counter_warning);
  }
  if (candidate.gate_lost) {
    measured.timing.warnings.emplace_back("samples were taken without the device gate");
  }
  return measured;
}

Evaluation ProblemRace::finish() const {
  const RaceResult result = race_.result();
  Evaluation evaluation;
  for (const Standing& standing : result.standings) {
    const MeasuredCandidate& candidate = candidates_.at(standing.candidate);
    if (candidate.failure) {
      evaluation.results.push_back({candidate.id, *candidate.failure, 0, 0});
    } else if (standing.place > 0) {
      evaluation.results.push_back({candidate.id, outcome_of(candidate, standing), standing.place,
                                    standing.tie_group, standing.to_fastest});
    }
  }
  evaluation.summary = summary_of(result);
  if (result.sentinel) {
    evaluation.summary->sentinel = candidates_.at(*result.sentinel).kernel.label;
  }
  if (!counter_problem_.empty()) {
    evaluation.summary->warnings.push_back("no hardware counters: " + counter_problem_);
  }
  evaluation.conditions = conditions_.summary();
  return evaluation;
}

}  // namespace fatune
