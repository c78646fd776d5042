#include "app/emulate_config.hpp"

#include <optional>
#include <variant>

#include "compile/compiler.hpp"
#include "engine/entries.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

EmulatedConfig stopped_by(const Outcome& outcome, const Family& family, const Config& config,
                          const Problem& problem) {
  EmulatedConfig row;
  row.config = short_form(family, config);
  row.problem = problem;
  row.outcome = outcome_name(outcome);
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
  if (const auto* failed = std::get_if<CompileFailed>(&compiled)) {
    return stopped_by(*failed, job.family, config, problem);
  }
  EmulatedLaunch launch;
  launch.on.problem = problem;
  launch.geometry = launch_geometry(job.family, config, problem, job.limits);
  launch.shared_tensors = shared_tensors(job.family, config, problem, job.limits);
  return emulate_kernel({std::get<Artifact>(compiled), *request.sources,
                         short_form(job.family, config), launch},
                        job.settings, job.inputs)
      .value();
}

}  // namespace fatune
