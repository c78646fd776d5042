#include "engine/problem_run.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compile/machine_code.hpp"
#include "engine/audit.hpp"
#include "engine/entries.hpp"
#include "engine/interrupt.hpp"
#include "race/race_result.hpp"
#include "rank/ranking.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

// Long enough not to spin, short enough to notice Ctrl-C.
constexpr milliseconds kFeedPatience{50};
constexpr milliseconds kNoWait{0};

}  // namespace

ProblemRun::ProblemRun(ProblemRunParts parts, ProblemWork& work, std::size_t index)
    : parts_(std::move(parts)), work_(work), index_(index) {}

bool ProblemRun::run() {
  report_ = header();
  parts_.log.begin_problem(report_);
  parts_.observer.begin_problem(work_.plan->problem);
  if (take_recalled()) {
    return true;
  }
  begin();
  const bool complete = go_on() && race();
  finish(complete);
  return complete;
}

ProblemReport ProblemRun::header() const {
  ProblemReport report;
  report.problem = work_.plan->problem;
  report.run = work_.plan->run;
  report.pruned = work_.plan->pruned;
  report.invalid = work_.plan->invalid;
  report.device_uuid = parts_.evaluator.limits().uuid;
  return report;
}

bool ProblemRun::take_recalled() {
  std::optional<ProblemReport> recalled = parts_.log.recall_problem();
  if (!recalled) {
    return false;
  }
  report_ = *std::move(recalled);
  for (std::size_t i = 0; i < work_.trials.size() + work_.obstacles.size(); ++i) {
    parts_.observer.step();
  }
  return true;
}

void ProblemRun::begin() {
  for (Entry& entry : work_.obstacles) {
    parts_.log.add(entry, {});
    finished_.push_back(std::move(entry));
    parts_.observer.step();
  }
  parts_.evaluator.begin_problem(work_.plan->problem, parts_.budget_s, parts_.log);
}

// --- Going on with an interrupted run ---

bool ProblemRun::go_on() {
  const std::vector<JournalEvent> events = parts_.log.take_over_journal();
  const std::set<std::size_t> trials = journaled_trials(events);
  if (!collect(trials)) {
    return false;
  }
  if (!trials.empty()) {
    resume(events, trials);
  }
  return true;
}

std::set<std::size_t> ProblemRun::journaled_trials(const std::vector<JournalEvent>& events) const {
  std::set<std::size_t> trials;
  for (const JournalEvent& event : events) {
    for (std::size_t i = 0; i < work_.trials.size(); ++i) {
      if (work_.trials[i].entry.short_form == event.config) {
        trials.insert(i);
      }
    }
  }
  return trials;
}

/// Waits until all of them are compiled. False when the user has interrupted it.
bool ProblemRun::collect(const std::set<std::size_t>& trials) {
  std::size_t missing = trials.size();
  while (missing > 0) {
    if (InterruptWatch::interrupted()) {
      return false;
    }
    if (auto ready = parts_.feed.take(index_, kFeedPatience)) {
      missing -= trials.count(ready->trial);
      add_code(*ready);
      waiting_.push_back(*std::move(ready));
    }
  }
  return true;
}

bool ProblemRun::fits(const JournalEvent& event) const {
  if (event.kind != JournalEvent::Kind::admitted) {
    return true;
  }
  return std::any_of(work_.trials.begin(), work_.trials.end(), [&](const Trial& trial) {
    return trial.entry.short_form == event.config && trial.artifact != nullptr &&
           trial.artifact->key == event.artifact_key && same_launch(trial.geometry, event.launch);
  });
}

void ProblemRun::resume(const std::vector<JournalEvent>& events,
                        const std::set<std::size_t>& trials) {
  if (!std::all_of(events.begin(), events.end(), [&](const auto& event) { return fits(event); })) {
    parts_.log.drop_journal();
    return;
  }
  std::vector<ResumedTrial> resumed;
  resumed.reserve(trials.size());
  for (const std::size_t trial : trials) {
    resumed.push_back({trial, candidate_of(work_.trials[trial])});
  }
  if (parts_.evaluator.resume(events, resumed)) {
    resumed_ = trials;
    journaled_ = events;
    // These come before the others, so that a trial with the same code refers to one of them.
    for (const std::size_t trial : trials) {
      static_cast<void>(repeats_code(trial));
    }
  } else {
    parts_.log.drop_journal();
  }
}

// --- The race ---

bool ProblemRun::race() {
  while (!InterruptWatch::interrupted()) {
    const bool all_handled = handled_ == work_.trials.size();
    if (auto ready = all_handled ? std::nullopt : next_ready(false)) {
      handle(*ready);
      continue;
    }
    if (all_handled) {
      parts_.evaluator.close();
    }
    if (parts_.evaluator.work()) {
      continue;
    }
    if (all_handled) {
      return true;
    }
    if (auto ready = next_ready(true)) {
      handle(*ready);
    }
  }
  return false;
}

std::optional<ReadyTrial> ProblemRun::next_ready(bool wait) {
  if (waiting_.empty()) {
    return parts_.feed.take(index_, wait ? kFeedPatience : kNoWait);
  }
  ReadyTrial ready = std::move(waiting_.front());
  waiting_.pop_front();
  return ready;
}

/// Gives the trial its machine code, if there is some.
void ProblemRun::add_code(const ReadyTrial& ready) {
  if (const auto* artifact = std::get_if<Artifact>(ready.result.get())) {
    work_.trials[ready.trial].artifact = {ready.result, artifact};
  }
}

void ProblemRun::handle(const ReadyTrial& ready) {
  ++handled_;
  add_code(ready);
  if (std::optional<Outcome> outcome = outcome_of(ready.trial, *ready.result)) {
    work_.trials[ready.trial].entry.outcome = *std::move(outcome);
    const Entry& entry = work_.trials[ready.trial].entry;
    const bool compiled_and_fits = entry.blocks_per_sm > 0;
    finish_trial(ready.trial,
                 compiled_and_fits && !std::holds_alternative<Serialized>(entry.outcome));
  }
  if (!parts_.evaluator.tells_when_done(ready.trial)) {
    parts_.observer.step();
  }
}

/// The trial's outcome; nothing when it is in the race, or stands behind another with its code.
std::optional<Outcome> ProblemRun::outcome_of(std::size_t index, const CompileResult& result) {
  Trial& trial = work_.trials[index];
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    return *failed;
  }
  if (work_.finish_launch) {
    work_.finish_launch(trial);
  }
  if (auto unlaunchable =
          add_artifact(*trial.artifact, trial.geometry, parts_.limits, trial.entry)) {
    return *std::move(unlaunchable);
  }
  if (auto serialized = find_serialization(trial.artifact->facts)) {
    return *std::move(serialized);
  }
  if (resumed_.count(index) > 0) {
    return std::nullopt;
  }
  if (auto recalled = parts_.log.recall(trial.entry, trial.geometry)) {
    trial.entry.reused = true;
    first_with_code_.try_emplace(code_of(trial), index);
    return recalled;
  }
  if (repeats_code(index)) {
    return std::nullopt;
  }
  return parts_.evaluator.admit(index, trial.entry, candidate_of(trial));
}

ProblemRun::CodeKey ProblemRun::code_of(const Trial& trial) {
  return {machine_code_hash(*trial.artifact), trial.geometry};
}

bool ProblemRun::repeats_code(std::size_t index) {
  const auto [first, is_new] = first_with_code_.try_emplace(code_of(work_.trials[index]), index);
  if (is_new || resumed_.count(index) > 0) {
    return false;
  }
  repeats_.emplace_back(index, first->second);
  return true;
}

Candidate ProblemRun::candidate_of(const Trial& trial) const {
  return {trial.entry.short_form,
          trial.artifact,
          trial.geometry,
          trial.probe_geometry,
          trial.entry.config.family,
          trial.entry.config == work_.plan->kept_in_race,
          true,
          trial.small_geometry};
}

// --- The end ---

void ProblemRun::finish_trial(std::size_t index, bool evaluated) {
  Trial& trial = work_.trials[index];
  parts_.log.add(trial.entry, {trial.artifact.get(), trial.geometry, evaluated});
  finished_.push_back(trial.entry);
  finished_trials_.insert(index);
}

/// Whether nothing of the entry's outcome but its place is of this run: each of its samples is
/// among those of the journal that the run goes on from, or it failed there.
bool ProblemRun::is_journaled(const Entry& entry) const {
  std::vector<double> known_us;
  for (const JournalEvent& event : journaled_) {
    if (event.config == entry.short_form && event.kind == JournalEvent::Kind::failed) {
      return true;
    }
    if (event.config == entry.short_form && event.kind == JournalEvent::Kind::sample) {
      known_us.push_back(event.us);
    }
  }
  const auto* const measured = std::get_if<Measured>(&entry.outcome);
  if (measured == nullptr || measured->timing.samples_us.empty()) {
    return false;
  }
  std::vector<double> samples_us = measured->timing.samples_us;
  std::sort(known_us.begin(), known_us.end());
  std::sort(samples_us.begin(), samples_us.end());
  return std::includes(known_us.begin(), known_us.end(), samples_us.begin(), samples_us.end());
}

void ProblemRun::finish(bool complete) {
  Evaluation evaluation = parts_.evaluator.finish();
  for (TrialResult& result : evaluation.results) {
    Entry& entry = work_.trials[result.trial].entry;
    entry.outcome = std::move(result.outcome);
    entry.rank = result.place;
    entry.tie_group = result.tie_group;
    entry.to_fastest = result.to_fastest;
    entry.reused = is_journaled(entry);
    finish_trial(result.trial, complete || !is_ranked(entry.outcome));
  }
  finish_repeats(complete);
  report_.measuring = std::move(evaluation.summary);
  if (!complete && report_.measuring) {
    report_.measuring->stopped_because = stop_reason_name(StopReason::not_yet);
  }
  report_.conditions = std::move(evaluation.conditions);
  report_.matmul = evaluation.matmul;
  rank();
  parts_.log.end_problem(report_, complete);
}

void ProblemRun::finish_repeats(bool complete) {
  for (const auto& [index, first] : repeats_) {
    if (finished_trials_.count(first) > 0) {
      Entry& entry = work_.trials[index].entry;
      const Entry& original = work_.trials[first].entry;
      entry.outcome = original.outcome;
      entry.rank = original.rank;
      entry.tie_group = original.tie_group;
      entry.to_fastest = original.to_fastest;
      entry.reused = original.reused;
      entry.same_code_as = original.short_form;
      finish_trial(index, complete || !is_ranked(entry.outcome));
    }
  }
}

void ProblemRun::rank() {
  const auto audited = std::stable_partition(finished_.begin(), finished_.end(),
                                             [](const Entry& e) { return e.pruned_by.empty(); });
  report_.audited.assign(std::make_move_iterator(audited),
                         std::make_move_iterator(finished_.end()));
  finished_.erase(audited, finished_.end());
  sort_into_report(std::exchange(finished_, {}), parts_.baseline, report_);
  add_audit(*work_.plan, report_);
}

}  // namespace fatune
