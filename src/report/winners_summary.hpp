#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

/// The fastest configuration of one problem.
struct ProblemWinner {
  Problem problem;
  int run = 1;         ///< number of the repetition of the whole measurement
  std::string config;  ///< short form; empty: nothing is ranked
  std::string family;  ///< its kernel family
  double time_us = 0.0;
  std::optional<double> lead_percent;  ///< by which the runner-up is slower; absent: no runner-up
  bool tied = false;                   ///< the runner-up cannot be told apart from it
};

/// The one configuration that does best on all problems of a type and head dimension.
struct CommonChoice {
  DType dtype = DType::fp16;
  std::int64_t d_head = 0;
  std::size_t problems = 0;           ///< repetitions are counted separately
  std::string config;                 ///< short form; empty: none is ranked on all of them
  std::string family;                 ///< its kernel family
  double mean_regret_percent = 0.0;   ///< by which it is slower than the winners: geometric mean
  double worst_regret_percent = 0.0;  ///< the greatest on any problem
  Problem worst_problem;
};

/// The summary of a run over several problems.
struct WinnersSummary {
  std::vector<ProblemWinner> winners;  ///< one for each problem, in order
  /// One for each type and head dimension with more than one problem, because configurations name
  /// both.
  std::vector<CommonChoice> choices;
};

}  // namespace fatune
