#include "commands/sass/sass_code.hpp"

#include <fmt/format.h>

#include "app/choice/plan_problems.hpp"
#include "app/choice/target.hpp"
#include "app/run/stored_reports.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

std::int64_t seq_len_of_code(const ProblemOptions& problems) {
  if (problems.seq_lens.size() > 1) {
    throw Error(ExitCode::usage, "sass takes one sequence length", "--seq",
                "its remainder modulo the tiles is compiled in");
  }
  return first_seq_len(problems);
}

SassCase named_case(const CodeOptions& options, const std::string& text) {
  KernelSet kernels = choose_kernels(options.kernels, {text});
  Config config = parse_configs(kernels.families, {text}, options.problems).front();
  const Target target = offline_target(options.arch, kernels.tree, kernels.families.all());
  const Problem problem =
      problem_for(kernels.family(), config, options.problems, seq_len_of_code(options.problems));
  return {std::move(kernels), std::move(config), problem, target.limits, {}};
}

const ProblemReport& only_problem(const RunReport& run, const ProblemOptions& asked) {
  const ProblemReport* found = nullptr;
  std::vector<std::string> names;
  for (const ProblemReport& problem : run.problems) {
    names.push_back(describe(problem.problem));
    if (is_asked_for(problem.problem, asked)) {
      if (found != nullptr && describe(found->problem) != names.back()) {
        throw Error(ExitCode::usage, "the run has several such problems", "--run",
                    "choose one with --seq, --dhead, --dtype or --causal");
      }
      found = &problem;  // the last of several repetitions
    }
  }
  if (found == nullptr) {
    throw Error(ExitCode::usage, "the run has no such problem", "--run",
                fmt::format("it has {}", fmt::join(names, ", ")));
  }
  return *found;
}

const Result& result_of_rank(const ProblemReport& problem, std::int64_t rank) {
  for (const Result& result : problem.ranking) {
    if (result.rank == rank) {
      return result;
    }
  }
  throw Error(ExitCode::usage, fmt::format("there is no rank {}", rank), "--rank",
              fmt::format("{} has {} ranked", describe(problem.problem), problem.ranking.size()));
}

SassCase stored_case(const CodeOptions& options, const CodeSource& source) {
  const RunReport run = stored_report(options.db_file, source.run);
  const ProblemReport& problem = only_problem(run, options.problems);
  const Result& result = result_of_rank(problem, options.rank);
  KernelOptions kernels = options.kernels;
  kernels.family = names_families(kernels) ? kernels.family : result.config.family;
  SassCase one{choose_kernels(kernels), {}, problem.problem, run.device, result.artifact_key};
  one.config = parse_configs(one.kernels.families, {result.short_form}).front();
  return one;
}

}  // namespace

std::string SassCase::name() const { return short_form(kernels.family(), config); }

CompileRequest SassCase::request() const {
  return compile_request(kernels.family(), config, problem, limits.arch, limits);
}

SassCase sass_case(const CodeOptions& options, const CodeSource& source) {
  return source.kind == CodeSource::Kind::run ? stored_case(options, source)
                                              : named_case(options, source.text);
}

}  // namespace fatune
