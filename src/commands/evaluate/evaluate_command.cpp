#include "commands/evaluate/evaluate_command.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/console/streams.hpp"
#include "app/run/session.hpp"
#include "commands/evaluate/evaluation_search.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

Problem only_problem(const ProblemOptions& options) {
  const std::vector<Problem> problems = named_problems(options);
  if (problems.size() != 1) {
    throw Error(ExitCode::usage,
                fmt::format("evaluate takes one problem, and these are {}", problems.size()),
                "--seq, --dhead, --dtype", "run it once for each");
  }
  return problems.front();
}

}  // namespace

ExitCode evaluate(const MeasureOptions& options) {
  ProblemPlan plan;
  plan.problem = only_problem(options.problems);
  LineInput input(STDIN_FILENO);
  PlannedRun run{choose_kernels(options.kernels), {}, {plan}, std::nullopt};
  run.search =
      std::make_shared<EvaluationSearch>(run.kernels.family(), plan.problem, input,
                                         [](const std::string& line) { print_result(line); });
  MeasureOptions lines = options;
  lines.output.format = OutputFormat::json_lines;
  lines.store.fresh = true;
  return carry_out(lines, run);
}

}  // namespace fatune
