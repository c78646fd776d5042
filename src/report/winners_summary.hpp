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
  int run = 1;         ///< which repetition of the whole measurement
  std::string config;  ///< short form; empty: nothing is ranked
  std::string family;  ///< its kernel family
  double time_us = 0.0;
  std::optional<double>
      lead_percent;   ///< by how much the runner-up is slower; absent: there is none
  bool tied = false;  ///< the runner-up cannot be told apart from it
};

/// The one configuration that does best on all problems of a type and head dimension.
struct CommonChoice {
  DType dtype = DType::fp16;
  std::int64_t d_head = 0;
  std::size_t problems = 0;           ///< repetitions count apart
  std::string config;                 ///< short form; empty: none is ranked on all of them
  std::string family;                 ///< its kernel family
  double mean_regret_percent = 0.0;   ///< how much slower than the winners: the geometric mean
  double worst_regret_percent = 0.0;  ///< the same on the problem where it is greatest
  Problem worst_problem;
};

/// The summary of a run over several problems.
struct WinnersSummary {
  std::vector<ProblemWinner> winners;  ///< a problem each, in order
  /// For each type and head dimension with more than one problem: configurations name both.
  std::vector<CommonChoice> choices;
};

}  // namespace fatune
