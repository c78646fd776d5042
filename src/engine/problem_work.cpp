#include "engine/problem_work.hpp"

#include <algorithm>
#include <utility>

#include "attention/probe_problem.hpp"
#include "engine/entries.hpp"
#include "engine/work_estimate.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

/// A candidate with its guessed time.
struct Guess {
  double us = 0.0;
  Candidate candidate;
};

/// Whether two requests give the same machine code.
bool is_same_code(const CompileRequest& a, const CompileRequest& b) {
  return a.sources == b.sources && a.defines == b.defines && a.options == b.options &&
         a.entry_point == b.entry_point;
}

/// Takes configurations in, one by one.
class WorkLayout {
 public:
  WorkLayout(const FamilySet& families, const DeviceLimits& limits, const ProblemPlan& plan)
      : families_(families),
        limits_(limits),
        plan_(plan),
        probe_(probe_problem(plan.problem)),
        small_(small_problem(plan.problem)) {}

  void add(const Config& config, const std::string& pruned_by) {
    const Problem& problem = plan_.problem;
    const Family& family = families_.of(config);
    Entry entry = make_entry(family, config);
    entry.pruned_by = pruned_by;
    entry.total_flop = find_quantity(family, config, problem, limits_, "total_flop");
    if (auto obstacle = find_obstacle(family, config, problem, limits_)) {
      entry.outcome = *std::move(obstacle);
      obstacles_.push_back(std::move(entry));
      return;
    }
    const LaunchGeometry geometry = launch_geometry(family, config, problem, limits_);
    const double us = guess_us(family, entry, geometry, problem, limits_);
    const bool small = has_small_launch(family, config);
    guesses_.push_back(
        {us, Candidate{std::move(entry), geometry, launch_geometry(family, config, probe_, limits_),
                       small ? std::optional(launch_geometry(family, config, small_, limits_))
                             : std::nullopt,
                       nullptr}});
  }

  void add_pruned(const PrunedConfig& pruned) {
    Entry& entry = obstacles_.emplace_back(make_entry(families_.of(pruned.config), pruned.config));
    entry.outcome = pruned.why;
  }

  [[nodiscard]] ProblemWork finish() {
    std::stable_sort(guesses_.begin(), guesses_.end(),
                     [](const Guess& a, const Guess& b) { return a.us < b.us; });
    ProblemWork work{&plan_, {}, std::move(obstacles_)};
    for (Guess& guess : guesses_) {
      work.candidates.push_back(std::move(guess.candidate));
    }
    work.finish_launch = [&families = families_, &limits = limits_, &problem = plan_.problem,
                          probe = probe_, small = small_](Candidate& candidate) {
      const Config& config = candidate.entry.config;
      const Family& family = families.of(config);
      const ResourceFacts* facts = &candidate.artifact->facts;
      candidate.geometry = launch_geometry(family, config, problem, limits, facts);
      candidate.probe_geometry = launch_geometry(family, config, probe, limits, facts);
      if (candidate.small_geometry) {
        candidate.small_geometry = launch_geometry(family, config, small, limits, facts);
      }
    };
    return work;
  }

 private:
  /// The machine code for the small problem is that for the problem itself.
  [[nodiscard]] bool has_small_launch(const Family& family, const Config& config) const {
    if (find_obstacle(family, config, small_, limits_)) {
      return false;
    }
    const auto request = [&](const Problem& problem) {
      return compile_request(family, config, problem, limits_.arch, limits_);
    };
    return is_same_code(request(small_), request(plan_.problem));
  }

  const FamilySet& families_;
  const DeviceLimits& limits_;
  const ProblemPlan& plan_;
  Problem probe_;
  Problem small_;
  std::vector<Guess> guesses_;
  std::vector<Entry> obstacles_;
};

}  // namespace

ProblemWork lay_out(const FamilySet& families, const DeviceLimits& limits,
                    const ProblemPlan& plan) {
  WorkLayout layout(families, limits, plan);
  for (const Config& config : plan.configs) {
    layout.add(config, {});
  }
  for (const AuditedConfig& audited : plan.audited) {
    layout.add(audited.config, audited.rule);
  }
  for (const PrunedConfig& pruned : plan.pruned_here) {
    layout.add_pruned(pruned);
  }
  return layout.finish();
}

CompileList list_requests(const FamilySet& families, const DeviceLimits& limits,
                          const std::vector<ProblemWork>& works,
                          const std::vector<std::size_t>& order) {
  CompileList list;
  for (const std::size_t index : order) {
    const ProblemWork& work = works[index];
    for (CandidateId id; id.index < work.candidates.size(); ++id.index) {
      const Config& config = work.at(id).entry.config;
      list.requests.push_back(
          compile_request(families.of(config), config, work.plan->problem, limits.arch, limits));
      list.owners.push_back({index, id});
    }
  }
  return list;
}

}  // namespace fatune
