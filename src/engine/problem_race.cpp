#include "engine/problem_race.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/ranges.hpp"

namespace fatune {
namespace {

// Runs share their passes over the counters, so more than one run costs little.
constexpr int kRuns = 3;

}  // namespace

RaceCounters::RaceCounters(Measurer& measurer, Arch arch, int most)
    : measurer_(measurer),
      fields_(counter_fields(CounterSet::core)),
      request_{kRuns, hardware_metrics(fields_, arch.sm)},
      most_(most) {}

RaceCounters::Reading RaceCounters::read(CandidateId id) {
  Reading reading;
  try {
    const Counted counted = measurer_.count(id, request_);
    if (counted.failure) {
      reading.warning = "no hardware counters: " + outcome_summary(*counted.failure);
    }
    for (const auto& [name, value] : derive_averages(fields_, counted.runs)) {
      reading.counters.push_back({name, value});
    }
  } catch (const Error& error) {
    problem_ = error.what();
    spdlog::warn("no hardware counters: {}", problem_);
  }
  return reading;
}

namespace {

// Samples at one clock agree better, so the margins are smaller (docs/racing.md).
constexpr double kClearMarginAtOneClock = 0.01;
constexpr double kGrossMarginAtOneClock = 0.025;

RacePolicy race_policy(const MeasurePolicy& policy, const RaceTerms& terms) {
  RacePolicy race;
  race.strategy = terms.repeats ? Strategy::exhaustive : policy.strategy;
  race.repeats = std::max(1, terms.repeats.value_or(policy.repeats));
  race.seed = policy.seed;
  race.confidence = policy.confidence;
  race.target_ci = policy.target_ci;
  race.budget_s = terms.budget_s;
  race.part_share = terms.part_share;
  race.sustain_s = terms.may_sustain ? policy.sustain_s : 0.0;
  if (terms.at_one_clock) {
    race.clear_margin = kClearMarginAtOneClock;
    race.gross_margin = kGrossMarginAtOneClock;
  }
  return race;
}

Extent admitted_on(const CandidateKernel& kernel) {
  return kernel.part_geometry ? Extent::part : Extent::whole;
}

/// Whether the output is to be checked again: for results that decide the head of the ranking, and
/// for all results of an exhaustive run, which drops none.
bool needs_recheck(const Standing& standing, const MeasuredCandidate& candidate,
                   Strategy strategy) {
  const bool counts = strategy == Strategy::exhaustive || standing.finalist ||
                      standing.timing.sustained_us > 0.0 || standing.tie_group == 1;
  return candidate.loaded && !candidate.checked && !candidate.failure && standing.place > 0 &&
         counts;
}

/// The first candidate for which `holds(standing, candidate)` is true; null: none.
template <typename Predicate>
MeasuredCandidate* find_candidate(JournaledRace& race, Predicate holds) {
  const std::vector<Standing> standings = race.result().standings;
  const auto found = std::ranges::find_if(standings, [&](const Standing& standing) {
    return holds(standing, race.at(standing.candidate));
  });
  return found == standings.end() ? nullptr : &race.at(found->candidate);
}

constexpr double kUsPerS = 1e6;

double total_us(const Samples& launches) {
  return std::accumulate(launches.samples_us.begin(), launches.samples_us.end(), 0.0);
}

/// Asks for launches that follow those of the turn so far. They are many at a time, so that the GPU
/// does not wait between them, but few enough for the user to interrupt the turn.
SampleRequest next_launches(const Samples& so_far, double turn_us) {
  constexpr double kMostUs = 1e5;
  SampleRequest request{.round = static_cast<int>(so_far.samples_us.size())};
  if (request.round > 0) {
    const double left_us = std::min(kMostUs, turn_us - total_us(so_far));
    request.count = static_cast<int>(std::ceil(left_us / so_far.samples_us.back()));
  }
  return request;
}

void add(const Samples& more, Samples& launches) {
  append(launches.samples_us, more.samples_us);
  append(launches.readings, more.readings);
  launches.deterministic = launches.deterministic && more.deterministic;
  if (more.verification) {
    launches.verification = more.verification;
  }
}

Outcome outcome_of(const MeasuredCandidate& candidate, const Standing& standing) {
  Measured measured{standing.timing, candidate.verification, candidate.counters};
  measured.timing.warnings = standing.warnings;
  measured.timing.part_share = standing.part_share;
  if (!candidate.counter_warning.empty()) {
    measured.timing.warnings.push_back(candidate.counter_warning);
  }
  if (candidate.gate_lost) {
    measured.timing.warnings.emplace_back("samples were taken without the device gate");
  }
  return measured;
}

}  // namespace

ProblemRace::ProblemRace(Measurer& measurer, const RaceTerms& terms, RunLog& log,
                         RaceCounters* counters)
    : measurer_(measurer),
      counters_(counters),
      race_(race_policy(measurer.policy(), terms), terms.at_one_clock, log) {}

std::optional<Outcome> ProblemRace::discard_warmup(CandidateId id, Extent extent) {
  const int warmup = measurer_.policy().warmup;
  return warmup > 0 ? measurer_.sample(id, SampleRequest{warmup, 0, extent}).failure : std::nullopt;
}

std::optional<Outcome> ProblemRace::admit(CandidateId id, const CandidateKernel& kernel) {
  Admission admission = measurer_.admit(id, kernel);
  if (!admission.failure) {
    admission.failure = discard_warmup(id, admitted_on(kernel));
  }
  if (!admission.failure) {
    race_.admit({.id = id,
                 .kernel = kernel,
                 .verification = std::move(admission.verification),
                 .first_us = admission.first_us,
                 .first_reading = admission.reading,
                 .loaded = true});
  }
  return std::move(admission.failure);
}

// Loads a candidate that an earlier run admitted, and verifies it again, when its turn comes.
std::optional<Outcome> ProblemRace::load(MeasuredCandidate& candidate) {
  if (std::exchange(candidate.loaded, true)) {
    return std::nullopt;
  }
  Admission admission = measurer_.admit(candidate.id, candidate.kernel);
  return admission.failure ? std::move(admission.failure)
                           : discard_warmup(candidate.id, admitted_on(candidate.kernel));
}

// Warms up on the whole problem a candidate that was admitted on the part.
std::optional<Outcome> ProblemRace::warm_up_on_whole(MeasuredCandidate& candidate) {
  const bool is_warm =
      std::exchange(candidate.ran_on_whole, true) || !candidate.kernel.part_geometry;
  return is_warm ? std::nullopt : discard_warmup(candidate.id, Extent::whole);
}

bool ProblemRace::work() {
  const Step step = race_.next();
  switch (step.kind) {
    case Step::Kind::sample:
      take_sample(race_.at(step.candidate), step);
      return true;
    case Step::Kind::wait:
      return false;
    case Step::Kind::finished:
      break;
  }
  return launch_alone() || recheck_next() || count_next();
}

// The candidate to sample after this step. Empty: it is not known, or must be loaded or warmed up
// first.
std::optional<CandidateId> ProblemRace::sampled_after(const Step& step) {
  if (!step.then) {
    return std::nullopt;
  }
  const MeasuredCandidate& then = race_.at(*step.then);
  const bool is_warm = step.on_part || then.ran_on_whole || !then.kernel.part_geometry ||
                       measurer_.policy().warmup == 0;
  return then.loaded && is_warm ? step.then : std::nullopt;
}

// Loads a candidate and warms it up, if need be. Withdraws it if that fails, and returns false.
bool ProblemRace::make_ready(MeasuredCandidate& candidate, Extent extent) {
  std::optional<Outcome> failure = load(candidate);
  if (!failure && extent == Extent::whole) {
    failure = warm_up_on_whole(candidate);
  }
  if (failure) {
    race_.withdraw(candidate, *std::move(failure));
  }
  return !failure;
}

// Takes samples of a candidate that is ready. Withdraws it if that fails, and returns none.
std::optional<Samples> ProblemRace::sample(MeasuredCandidate& candidate,
                                           const SampleRequest& request) {
  Samples samples = measurer_.sample(candidate.id, request);
  if (samples.failure) {
    race_.withdraw(candidate, *std::move(samples.failure));
    return std::nullopt;
  }
  candidate.gate_lost =
      candidate.gate_lost || (measurer_.policy().device_gate && !samples.gate_in_use);
  return samples;
}

void ProblemRace::take_sample(MeasuredCandidate& candidate, const Step& step) {
  const Extent extent = step.on_part ? Extent::part : Extent::whole;
  if (!make_ready(candidate, extent)) {
    return;
  }
  if (const auto samples = sample(candidate, {1, step.round, extent, sampled_after(step)})) {
    race_.record(candidate, *samples);
  }
}

/// Continues the turn of a sustained final that is under way, or begins the next one.
bool ProblemRace::launch_alone() {
  const std::optional<CandidateId> id = race_.next_alone();
  if (!id) {
    return false;
  }
  MeasuredCandidate& candidate = race_.at(*id);
  const double turn_us = race_.policy().sustain_s * kUsPerS;
  const auto more = make_ready(candidate, Extent::whole)
                        ? sample(candidate, next_launches(launches_, turn_us))
                        : std::nullopt;
  if (!more) {
    launches_ = {};
  } else if (add(*more, launches_); total_us(launches_) >= turn_us) {
    race_.record_turn(candidate, std::exchange(launches_, {}));
  }
  return true;
}

bool ProblemRace::recheck_next() {
  MeasuredCandidate* const candidate =
      find_candidate(race_, [&](const Standing& standing, const MeasuredCandidate& one) {
        return needs_recheck(standing, one, race_.policy().strategy);
      });
  if (candidate == nullptr) {
    return false;
  }
  candidate->checked = true;
  if (auto failure = measurer_.recheck(candidate->id)) {
    race_.withdraw(*candidate, *std::move(failure));
  }
  return true;
}

/// Reads the counters of the next result. This comes after all samples, because reading counters
/// disturbs the chip and may take longer than the race.
bool ProblemRace::count_next() {
  const int most = counters_ == nullptr ? 0 : counters_->most();
  MeasuredCandidate* const candidate =
      find_candidate(race_, [&](const Standing& standing, const MeasuredCandidate& one) {
        return standing.place > 0 && standing.place <= most && !one.counted && !one.failure;
      });
  if (candidate == nullptr) {
    return false;
  }
  candidate->counted = true;
  if (std::optional<Outcome> failure = load(*candidate)) {
    race_.withdraw(*candidate, *std::move(failure));
  } else {
    RaceCounters::Reading reading = counters_->read(candidate->id);
    candidate->counters = std::move(reading.counters);
    candidate->counter_warning = std::move(reading.warning);
    counter_problem_ = counters_->problem();
  }
  return true;
}

Evaluation ProblemRace::finish() const {
  const RaceResult result = race_.result();
  Evaluation evaluation;
  for (const Standing& standing : result.standings) {
    const MeasuredCandidate& candidate = race_.at(standing.candidate);
    if (candidate.failure) {
      evaluation.results.push_back({candidate.id, *candidate.failure, 0, 0});
    } else if (standing.place > 0) {
      evaluation.results.push_back({candidate.id, outcome_of(candidate, standing), standing.place,
                                    standing.tie_group, standing.to_fastest});
    }
  }
  evaluation.summary = static_cast<const MeasuringSummary&>(result);
  if (!counter_problem_.empty()) {
    evaluation.summary->warnings.push_back("no hardware counters: " + counter_problem_);
  }
  evaluation.conditions = race_.conditions();
  return evaluation;
}

}  // namespace fatune
