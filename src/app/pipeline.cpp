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
  bool evaluator_ready = false;  ///< for this problem
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

ProblemReport header_of(const ProblemPlan& plan) {
  ProblemReport report;
  report.problem = plan.problem;
  report.run = plan.run;
  report.pruned = plan.pruned;
  report.invalid = plan.invalid;
  return report;
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
    begin(work);
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
    ProblemReport report = header_of(*work.plan);
    sort_into_report(std::move(work.finished), baseline, report);
    parts_.log.end_problem(report);
    return report;
  }

 private:
  [[nodiscard]] PipelineEnd state() const {
    if (parts_.evaluator.lost()) {
      return PipelineEnd::lost;
    }
    return InterruptWatch::interrupted() ? PipelineEnd::interrupted : PipelineEnd::complete;
  }

  void begin(Work& work) {
    parts_.log.begin_problem(header_of(*work.plan));
    for (const Entry& entry : work.finished) {
      parts_.log.add(entry, {});
    }
    if (!work.trials.empty() && !parts_.log.may_recall()) {
      prepare_evaluator(work);
    }
  }

  void prepare_evaluator(Work& work) {
    if (!std::exchange(work.evaluator_ready, true)) {
      parts_.evaluator.begin_problem(work.plan->problem);
    }
  }

  Outcome evaluate(Work& work, const std::shared_ptr<const Artifact>& artifact, Trial& trial) {
    if (auto recalled = parts_.log.recall(trial.entry, trial.geometry)) {
      trial.entry.reused = true;
      return *std::move(recalled);
    }
    prepare_evaluator(work);
    return parts_.evaluator.evaluate(trial.entry,
                                     {trial.entry.short_form, artifact, trial.geometry});
  }

  /// Gives the trial's entry its outcome.
  TrialRecord finish(Work& work, const SharedResult& result, Trial& trial) {
    if (const auto* failed = std::get_if<CompileFailed>(result.get())) {
      trial.entry.outcome = *failed;
      return {};
    }
    const std::shared_ptr<const Artifact> artifact(result, &std::get<Artifact>(*result));
    TrialRecord record{artifact.get(), trial.geometry, false};
    if (auto unlaunchable = add_artifact(*artifact, trial.geometry, parts_.limits, trial.entry)) {
      trial.entry.outcome = *std::move(unlaunchable);
    } else {
      trial.entry.outcome = evaluate(work, artifact, trial);
      record.evaluated = true;
    }
    return record;
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
    const TrialRecord record = finish(work, ready.result, trial);
    parts_.log.add(trial.entry, record);
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
