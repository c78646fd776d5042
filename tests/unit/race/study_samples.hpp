#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/report.hpp"

namespace fatune {

/// A ranked result that took `us`, with these parameters.
inline Result study_result(double us, std::vector<NamedValue> parameters = {},
                           std::string family = "f") {
  Result result;
  result.config.family = std::move(family);
  result.parameters = std::move(parameters);
  Measured measured;
  measured.timing.median_us = us;
  result.outcome = measured;
  return result;
}

inline ProblemReport study_problem(std::vector<Result> ranking) {
  ProblemReport problem;
  problem.ranking = std::move(ranking);
  return problem;
}

inline RunReport study_run(std::vector<ProblemReport> problems) {
  RunReport run;
  run.problems = std::move(problems);
  return run;
}

}  // namespace fatune
