#include "engine/problem_run.hpp"

#include <algorithm>
#include <variant>

#include "base/ranges.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/interrupt.hpp"
#include "gpu/cubin_elf.hpp"
#include "measure/memory_plan.hpp"
#include "model/statistics.hpp"
#include "race/ranking.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

// Long enough not to spin, short enough to notice Ctrl-C.
constexpr milliseconds kFeedPatience{50};
constexpr milliseconds kNoWait{0};

}  // namespace

bool ProblemRun::run() {
  const ProblemPlan& plan = work_.plan();
  report_.problem = plan.problem;
  report_.run = plan.run;
  report_.calls = plan.calls;
  report_.before_us = plan.before_us;
  report_.pruned = plan.pruned;
  report_.invalid = plan.invalid;
  report_.device_uuid = parts_.evaluator.limits().uuid;
  parts_.log.begin_problem(report_);
  parts_.observer.begin_problem(plan.problem);
  if (take_recalled()) {
    return true;
  }
  begin();
  const bool complete = go_on() && race();
  finish(complete);
  return complete;
}

bool ProblemRun::take_recalled() {
  std::optional<ProblemReport> recalled = parts_.log.recall_problem();
  if (!recalled) {
    return false;
  }
  report_ = *std::move(recalled);
  const std::size_t known =
      work_.candidates().size() + work_.obstacles().size() + work_.plan().pruned_here.size();
  for (std::size_t i = 0; i < known; ++i) {
    parts_.observer.step();
  }
  return true;
}

void ProblemRun::begin() {
  finish_uncompiled(work_.take_obstacles());
  finish_uncompiled(work_.pruned());
  search_ended_ = work_.source().finished();
  const ProblemPlan& plan = work_.plan();
  RaceTerms terms{parts_.budget_s, plan.repeats, work_.part()};
  if (terms.part) {
    terms.part_share = share_of(*terms.part, plan.problem);
  }
  // Further races (later_races.cpp) compare configurations in pairs, and rank none.
  terms.may_sustain = !plan.repeats && !plan.kept_in_race;
  parts_.evaluator.begin_problem(plan.problem, terms, parts_.log);
}

void ProblemRun::finish_uncompiled(std::vector<Result> results) {
  for (Result& result : results) {
    parts_.log.add(result, {});
    finished_.push_back(std::move(result));
    parts_.observer.step();
  }
}

bool ProblemRun::go_on() {
  const std::vector<JournalEvent> events = parts_.log.take_over_journal();
  std::set<std::string> short_forms;
  for (const JournalEvent& event : events) {
    short_forms.insert(event.config);
  }
  if (!short_forms.empty() && work_.source().learns()) {
    // The search proposes some of these only after it has learnt outcomes.
    compile(work_.ask_again(short_forms));
    finish_uncompiled(work_.take_obstacles());
  }
  const std::set<CandidateId> candidates = journaled_candidates(events);
  if (!collect(candidates)) {
    return false;
  }
  if (!candidates.empty()) {
    resume(events, candidates);
  }
  return true;
}

std::set<CandidateId> ProblemRun::journaled_candidates(
    const std::vector<JournalEvent>& events) const {
  std::set<CandidateId> candidates;
  for (const JournalEvent& event : events) {
    for (CandidateId id; id.index < work_.candidates().size(); ++id.index) {
      if (work_.at(id).result.short_form == event.config) {
        candidates.insert(id);
      }
    }
  }
  return candidates;
}

/// Waits until all these candidates are compiled. Returns false if the user has interrupted it.
bool ProblemRun::collect(const std::set<CandidateId>& candidates) {
  std::size_t missing = candidates.size();
  while (missing > 0) {
    if (InterruptWatch::interrupted()) {
      return false;
    }
    if (auto ready = parts_.feed.take(index_, kFeedPatience)) {
      missing -= candidates.count(ready->id);
      add_code(*ready);
      waiting_.push_back(*std::move(ready));
    }
  }
  return true;
}

void ProblemRun::resume(const std::vector<JournalEvent>& events,
                        const std::set<CandidateId>& candidates) {
  const auto fits = [&](const JournalEvent& event) {
    const auto is_admitted = [&](const Candidate& candidate) {
      return candidate.result.short_form == event.config && candidate.artifact != nullptr &&
             candidate.artifact->key == event.artifact_key &&
             same_launch(candidate.part_geometry.value_or(candidate.geometry), event.launch);
    };
    return event.kind != JournalEvent::Kind::admitted ||
           std::ranges::any_of(work_.candidates(), is_admitted);
  };
  if (!std::ranges::all_of(events, fits)) {
    parts_.log.drop_journal();
    return;
  }
  const auto resumed = mapped(candidates, [this](CandidateId id) {
    return ResumedCandidate{id, kernel_of(work_.at(id))};
  });
  if (parts_.evaluator.resume(events, resumed)) {
    resumed_ = candidates;
    journaled_ = events;
    // These come before the others, so that a candidate with the same code refers to one of them.
    for (const CandidateId id : candidates) {
      static_cast<void>(repeats_code(id));
    }
  } else {
    parts_.log.drop_journal();
  }
}

bool ProblemRun::race() {
  while (!InterruptWatch::interrupted()) {
    if (auto ready = open() == 0 ? std::nullopt : next_ready(false)) {
      handle(*ready);
      ask_for_more(false);
      continue;
    }
    const bool all_handled = open() == 0 && search_ended_;
    if (all_handled) {
      parts_.evaluator.close();
    }
    if (parts_.evaluator.work()) {
      continue;
    }
    if (all_handled) {
      return true;
    }
    wait_for_candidate();
  }
  return false;
}

/// Waits while the evaluator has nothing to do. The search has ended if it now proposes nothing,
/// not even a configuration that cannot run, although the outcomes of all its proposals are known.
void ProblemRun::wait_for_candidate() {
  const std::size_t finished = finished_.size();
  ask_for_more(true);
  if (open() == 0) {
    search_ended_ = finished_.size() == finished;
  } else if (auto ready = next_ready(true)) {
    handle(*ready);
  }
}

/// Tells the search what is known, and has its proposals compiled if compilers are idle.
void ProblemRun::ask_for_more(bool idle) {
  search_ended_ = search_ended_ || work_.source().finished();
  if (search_ended_ || open() >= parts_.feed.jobs()) {
    return;
  }
  for (const CandidateOutcome& known : parts_.evaluator.known_so_far()) {
    tell(known.candidate, known.outcome);
  }
  if (idle) {
    work_.source().settle();
  }
  compile(work_.ask(parts_.feed.jobs() - open()));
  finish_uncompiled(work_.take_obstacles());
  search_ended_ = work_.source().finished();
}

void ProblemRun::compile(const std::vector<CandidateId>& candidates) {
  for (const CandidateId id : candidates) {
    if (parts_.feed.add({index_, id}, work_.request(id))) {
      parts_.observer.expect_kernel();
    }
  }
}

/// Tells the search the outcome of a candidate, and of those with the same code.
void ProblemRun::tell(CandidateId id, const Outcome& outcome) {
  work_.source().observe(work_.at(id).result.config, outcome);
  for (const auto& [repeat, first] : repeats_) {
    if (first == id) {
      work_.source().observe(work_.at(repeat).result.config, outcome);
    }
  }
}

std::optional<CompiledCandidate> ProblemRun::next_ready(bool wait) {
  if (waiting_.empty()) {
    return parts_.feed.take(index_, wait ? kFeedPatience : kNoWait);
  }
  CompiledCandidate ready = std::move(waiting_.front());
  waiting_.pop_front();
  return ready;
}

void ProblemRun::add_code(const CompiledCandidate& ready) {
  if (const auto* artifact = std::get_if<Artifact>(ready.result.get())) {
    work_.at(ready.id).artifact = {ready.result, artifact};
  }
}

void ProblemRun::handle(const CompiledCandidate& ready) {
  ++handled_;
  add_code(ready);
  if (std::optional<Outcome> outcome = outcome_of(ready.id, *ready.result)) {
    work_.at(ready.id).result.outcome = *std::move(outcome);
    const Result& result = work_.at(ready.id).result;
    const bool compiled_and_fits = result.blocks_per_sm > 0;
    tell(ready.id, result.outcome);
    finish_candidate(ready.id,
                     compiled_and_fits && !std::holds_alternative<Serialized>(result.outcome));
  }
  if (!parts_.evaluator.tells_when_done(ready.id)) {
    parts_.observer.step();
  }
}

/// The candidate's outcome. Empty: it is in the race, or has the same code as an earlier one.
std::optional<Outcome> ProblemRun::outcome_of(CandidateId id, const CompileResult& result) {
  Candidate& candidate = work_.at(id);
  if (auto failed = failure_of(result)) {
    return failed;
  }
  work_.finish_launch(id);
  if (auto unlaunchable =
          add_artifact(*candidate.artifact, candidate.geometry, parts_.limits, candidate.result)) {
    return *std::move(unlaunchable);
  }
  if (auto serialized = find_serialization(candidate.artifact->facts)) {
    return *std::move(serialized);
  }
  if (resumed_.count(id) > 0) {
    return std::nullopt;
  }
  if (auto recalled = parts_.log.recall(candidate.result, candidate.geometry)) {
    candidate.result.reused = true;
    first_with_code_.try_emplace(code_of(candidate), id);
    return recalled;
  }
  if (repeats_code(id)) {
    return std::nullopt;
  }
  return parts_.evaluator.admit(id, candidate.result, kernel_of(candidate));
}

ProblemRun::CodeKey ProblemRun::code_of(const Candidate& candidate) {
  return {machine_code_hash(*candidate.artifact), candidate.geometry};
}

bool ProblemRun::repeats_code(CandidateId id) {
  const auto [first, is_new] = first_with_code_.try_emplace(code_of(work_.at(id)), id);
  if (is_new || resumed_.count(id) > 0) {
    return false;
  }
  repeats_.emplace_back(id, first->second);
  if (finished_candidates_.count(first->second) > 0) {
    tell(id, work_.at(first->second).result.outcome);
  }
  return true;
}

PartTail ProblemRun::tail_of(const Candidate& candidate) const {
  if (!candidate.part_geometry) {
    return {};
  }
  const std::int64_t at_a_time =
      std::int64_t{parts_.limits.sm_count} *
      resident_blocks(*candidate.artifact, candidate.geometry, parts_.limits);
  return part_tail(block_count(*candidate.part_geometry), block_count(candidate.geometry),
                   at_a_time, work_.part_tail());
}

CandidateKernel ProblemRun::kernel_of(const Candidate& candidate) const {
  return {candidate.result.short_form,
          candidate.artifact,
          candidate.geometry,
          candidate.probe_geometry,
          candidate.result.config.family,
          candidate.result.config == work_.plan().kept_in_race,
          true,
          candidate.small_geometry,
          candidate.part_geometry,
          tail_of(candidate)};
}

void ProblemRun::finish_candidate(CandidateId id, bool evaluated) {
  Candidate& candidate = work_.at(id);
  parts_.log.add(candidate.result, {candidate.artifact.get(), candidate.geometry, evaluated});
  finished_.push_back(candidate.result);
  finished_candidates_.insert(id);
}

/// Whether the result's outcome, except for its place, comes from the journal that the run resumes
/// from: each of its samples and turns is in that journal, or it failed there.
bool ProblemRun::is_journaled(const Result& result) const {
  std::vector<double> known_us;
  std::vector<double> turns_us;
  for (const JournalEvent& event : journaled_) {
    if (event.config == result.short_form && event.kind == JournalEvent::Kind::failed) {
      return true;
    }
    if (event.config == result.short_form && event.kind == JournalEvent::Kind::sample) {
      known_us.push_back(event.us);
    }
    if (event.config == result.short_form && event.kind == JournalEvent::Kind::turn) {
      turns_us.push_back(event.us);
    }
  }
  const auto* const measured = std::get_if<Measured>(&result.outcome);
  if (measured == nullptr || measured->timing.samples_us.empty() ||
      measured->timing.sustained_us != (turns_us.empty() ? 0.0 : median_of(turns_us))) {
    return false;
  }
  std::vector<double> samples_us = measured->timing.samples_us;
  if (measured->timing.part_share > 0.0) {  // scaled samples of the part, which a race takes first
    return known_us.size() >= samples_us.size();
  }
  std::ranges::sort(known_us);
  std::ranges::sort(samples_us);
  return std::includes(known_us.begin(), known_us.end(), samples_us.begin(), samples_us.end());
}

void ProblemRun::finish(bool complete) {
  Evaluation evaluation = parts_.evaluator.finish();
  for (CandidateOutcome& ended : evaluation.results) {
    Result& result = work_.at(ended.candidate).result;
    result.outcome = std::move(ended.outcome);
    result.rank = ended.place;
    result.tie_group = ended.tie_group;
    result.to_fastest = ended.to_fastest;
    result.reused = is_journaled(result);
    finish_candidate(ended.candidate, complete || !is_ranked(result.outcome));
    tell(ended.candidate, result.outcome);
  }
  work_.source().settle();
  finish_repeats(complete);
  report_.measuring = std::move(evaluation.summary);
  if (!complete && report_.measuring) {
    report_.measuring->stopped_because = StopReason::not_yet;
  }
  report_.conditions = std::move(evaluation.conditions);
  if (evaluation.rates) {
    report_.matmul = evaluation.rates->matmul;
    report_.memory = evaluation.rates->memory;
  }
  report_.untried = static_cast<std::int64_t>(work_.source().untried_count());
  report_.untried_because = work_.source().untried_because();
  rank();
  parts_.log.end_problem(report_, complete);
}

void ProblemRun::finish_repeats(bool complete) {
  for (const auto& [id, first] : repeats_) {
    if (finished_candidates_.count(first) > 0) {
      Result& result = work_.at(id).result;
      const Result& original = work_.at(first).result;
      result.outcome = original.outcome;
      result.rank = original.rank;
      result.tie_group = original.tie_group;
      result.to_fastest = original.to_fastest;
      result.reused = original.reused;
      result.same_code_as = original.short_form;
      finish_candidate(id, complete || !is_ranked(result.outcome));
    }
  }
}

void ProblemRun::rank() {
  const auto audited = std::stable_partition(finished_.begin(), finished_.end(),
                                             [](const Result& e) { return e.pruned_by.empty(); });
  report_.audited.assign(std::make_move_iterator(audited),
                         std::make_move_iterator(finished_.end()));
  finished_.erase(audited, finished_.end());
  sort_into_report(std::exchange(finished_, {}), parts_.baseline, report_);
  add_audit(work_.plan(), report_);
}

}  // namespace fatune
