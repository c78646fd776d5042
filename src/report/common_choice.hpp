#pragma once

#include <cstddef>
#include <string>

#include "attention/problem.hpp"

namespace fatune {

/// The one configuration that does best on all problems of a type and head dimension.
struct CommonChoice {
  DType dtype = DType::fp16;
  std::int64_t d_head = 0;
  std::size_t problems = 0;           ///< repetitions are counted separately
  std::string config;                 ///< short form; empty: none is ranked on all of them
  std::string family;                 ///< its kernel family
  double mean_regret_percent = 0.0;   ///< how much slower it is than the winners: geometric mean
  double worst_regret_percent = 0.0;  ///< the greatest on any problem
  Problem worst_problem;
};

}  // namespace fatune
