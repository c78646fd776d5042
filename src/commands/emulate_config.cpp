#include "commands/emulate_config.hpp"

#include <variant>

#include "compile/compiler.hpp"
#include "emulation/planned_launch.hpp"
#include "engine/results.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

EmulatedConfig stopped_by(const Outcome& outcome, const Family& family, const Config& config,
                          const Problem& problem) {
  EmulatedConfig row;
  row.config = short_form(family, config);
  row.problem = problem;
  row.outcome = outcome_kind(outcome);
  row.detail = outcome_summary(outcome);
  return row;
}

}  // namespace

EmulatedConfig emulate_config(const EmulationJob& job, const Config& config,
                              const Problem& problem) {
  if (const auto obstacle = find_obstacle(job.family, config, problem, job.limits)) {
    return stopped_by(*obstacle, job.family, config, problem);
  }
  const CompileRequest request =
      compile_request(job.family, config, problem, job.limits.arch, job.limits);
  const CompileResult compiled = compile_to_ptx(with_line_info(request), job.cache);
  if (const auto failed = failure_of(compiled)) {
    return stopped_by(*failed, job.family, config, problem);
  }
  return emulate_kernel(
             {std::get<Artifact>(compiled), *request.sources, short_form(job.family, config),
              planned_launch(job.family, config, problem, job.limits)},
             job.settings, job.inputs)
      .value();
}

}  // namespace fatune
