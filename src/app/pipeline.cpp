#include "app/pipeline.hpp"

#include <deque>
#include <memory>
#include <utility>
#include <variant>

#include "app/entries.hpp"
#include "app/interrupt.hpp"
#include "core/problem.hpp"
#include "plan/planner.hpp"
#include "rank/ranking.hpp"

namespace fatune {
namespace {

using SharedResult = std::shared_ptr<const CompileResult>;

/// A configuration that waits for its machine code.
struct Trial {
  Entry entry;
  LaunchGeometry geometry;
};

struct ReadyTrial {
  std::size_t trial;
  SharedResult result;
};

/// One problem on its way through the pipeline.
struct Work {
  const ProblemPlan* plan = nullptr;
  std::vector<Trial> trials;
  std::deque<ReadyTrial> ready;  ///< compiled, in the order of completion
  std::size_t taken = 0;         ///< trials that have left `ready`
  std::vector<Entry> finished;
};

/// Which trial a compile request is for.
struct Owner {
  std::size_t work;
  std::size_t trial;
};

struct WorkList {
  std::vector<Work> works;
  std::vector<CompileRequest> requests;
  std::vector<Owner> owners;  ///< of the requests
};

void add_config(const PipelineParts& parts, const Config& config, WorkList& list) {
  Work& work = list.works.back();
  const Problem& problem = work.plan->problem;
  Entry entry = make_entry(parts.family, config);
  entry.total_flop = find_quantity(parts.family, config, problem, parts.limits, "total_flop");
  if (auto obstacle = find_obstacle(parts.family, config, problem, parts.limits)) {
    entry.outcome = *std::move(obstacle);
    work.finished.push_back(std::move(entry));
    parts.progress.step();
    return;
  }
  list.requests.push_back(
      compile_request(parts.family, config, problem, parts.limits.arch, parts.limits));
  list.owners.push_back({list.works.size() - 1, work.trials.size()});
  work.trials.push_back(
      {std::move(entry), launch_geometry(parts.family, config, problem, parts.limits)});
}

WorkList lay_out(const PipelineParts& parts, const std::vector<ProblemPlan>& plans) {
  WorkList list;
  for (const ProblemPlan& plan : plans) {
    list.works.emplace_back().plan = &plan;
    for (const Config& config : plan.configs) {
      add_config(parts, config, list);
    }
  }
  return list;
}

Outcome outcome_of(const PipelineParts& parts, const SharedResult& result, Trial& trial) {
  if (const auto* failed = std::get_if<CompileFailed>(result.get())) {
    return *failed;
  }
  const std::shared_ptr<const Artifact> artifact(result, &std::get<Artifact>(*result));
  if (auto unlaunchable = add_artifact(*artifact, trial.geometry, parts.limits, trial.entry)) {
    return *std::move(unlaunchable);
  }
  return parts.evaluator.evaluate(trial.entry, {trial.entry.short_form, artifact, trial.geometry});
}

class Pipeline {
 public:
  Pipeline(const PipelineParts& parts, WorkList list)
      : parts_(parts),
        works_(std::move(list.works)),
        owners_(std::move(list.owners)),
        pool_(std::move(list.requests), parts.compile_one, {parts.jobs, 0}) {}

  PipelineEnd finish_problem(std::size_t index) {
    Work& work = works_[index];
    if (!work.trials.empty()) {
      parts_.evaluator.begin_problem(work.plan->problem);
    }
    for (PipelineEnd end = state(); work.taken < work.trials.size(); end = state()) {
      if (end != PipelineEnd::complete || !fetch(work)) {
        pool_.cancel();
        return end;
      }
      try_next(work);
    }
    return state();
  }

  ProblemReport report(std::size_t index, const std::optional<Config>& baseline) {
    Work& work = works_[index];
    ProblemReport report;
    report.problem = work.plan->problem;
    report.run = work.plan->run;
    report.pruned = work.plan->pruned;
    report.invalid = work.plan->invalid;
    sort_into_report(std::move(work.finished), baseline, report);
    return report;
  }

 private:
  [[nodiscard]] PipelineEnd state() const {
    if (parts_.evaluator.lost()) {
      return PipelineEnd::lost;
    }
    return InterruptWatch::interrupted() ? PipelineEnd::interrupted : PipelineEnd::complete;
  }

  /// Waits until the problem has a compiled trial; what is for later problems waits with them.
  bool fetch(const Work& work) {
    while (work.ready.empty()) {
      std::optional<Compiled> compiled = pool_.next();
      if (!compiled) {
        return false;
      }
      const Owner owner = owners_.at(compiled->index);
      works_[owner.work].ready.push_back({owner.trial, std::move(compiled->result)});
    }
    return true;
  }

  void try_next(Work& work) {
    const ReadyTrial ready = std::move(work.ready.front());
    work.ready.pop_front();
    ++work.taken;
    Trial& trial = work.trials[ready.trial];
    Outcome outcome = outcome_of(parts_, ready.result, trial);
    trial.entry.outcome = std::move(outcome);
    work.finished.push_back(std::move(trial.entry));
    parts_.progress.step();
  }

  const PipelineParts& parts_;
  std::vector<Work> works_;
  std::vector<Owner> owners_;
  CompilePool pool_;
};

}  // namespace

PipelineEnd run_pipeline(const PipelineParts& parts, const std::vector<ProblemPlan>& plans,
                         const std::optional<Config>& baseline,
                         const std::function<void(ProblemReport)>& on_problem) {
  Pipeline pipeline(parts, lay_out(parts, plans));
  for (std::size_t i = 0; i < plans.size(); ++i) {
    parts.progress.begin_problem(describe(plans[i].problem));
    const PipelineEnd end = pipeline.finish_problem(i);
    ProblemReport report = pipeline.report(i, baseline);
    parts.progress.end_problem(report);
    on_problem(std::move(report));
    if (end != PipelineEnd::complete) {
      return end;
    }
  }
  return PipelineEnd::complete;
}

}  // namespace fatune
