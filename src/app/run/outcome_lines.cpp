#include "app/run/outcome_lines.hpp"

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "core/error.hpp"
#include "emit/run_report.hpp"

namespace fatune {
namespace {

std::string key_of(const ProblemReport& problem) {
  return fmt::format("{} {}", describe(problem.problem), problem.run);
}

}  // namespace

void OutcomeLines::add(const ProblemReport& header, const Result& result) {
  const std::lock_guard lock(mutex_);
  if (!is_ranked(result.outcome)) {
    print(header, result);
    printed_[key_of(header)].insert(result.short_form);
  }
}

void OutcomeLines::end_problem(const ProblemReport& problem) {
  const std::lock_guard lock(mutex_);
  const std::set<std::string>& printed = printed_[key_of(problem)];
  for (const auto* results : {&problem.ranking, &problem.failures, &problem.audited}) {
    for (const Result& result : *results) {
      if (!printed.contains(result.short_form)) {
        print(problem, result);
      }
    }
  }
  printed_.erase(key_of(problem));
}

void OutcomeLines::print(const ProblemReport& problem, const Result& result) const {
  try {
    print_result(outcome_line(run_, problem, result));
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the run's own line says so
  }
}

}  // namespace fatune
