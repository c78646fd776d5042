#include "app/choice/default_problems.hpp"

#include "app/choice/plan_problems.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

ProblemOptions with_mask(ProblemOptions options, bool causal) {
  options.causal = causal;
  return options;
}

}  // namespace

std::vector<Problem> default_problems(const Family& family, const Config& config,
                                      const ProblemOptions& whole, const ProblemOptions& ragged,
                                      const DeviceLimits& limits) {
  std::vector<Problem> problems;
  const auto problem_of = [&](const ProblemOptions& options) {
    return problem_for(family, config, options, options.seq_lens.front());
  };
  const auto add = [&](const ProblemOptions& options) {
    const Problem problem = problem_of(options);
    const bool possible = !check_valid(family, config, &problem, &limits);
    if (possible) {
      problems.push_back(problem);
    }
    return possible;
  };
  add(whole);
  add(ragged);
  if (!whole.causal && !add(with_mask(ragged, true))) {
    add(with_mask(whole, true));
  }
  return problems.empty() ? std::vector{problem_of(whole)} : problems;
}

}  // namespace fatune
