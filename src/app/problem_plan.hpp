#pragma once

#include <cstdint>
#include <vector>

#include "app/options.hpp"
#include "core/config.hpp"
#include "core/problem.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"

namespace fatune {

/// What is to be tried on one problem.
struct ProblemPlan {
  Problem problem;
  int run = 1;                  ///< which repetition of the whole, from 1
  std::vector<Config> configs;  ///< in the documented order
  std::int64_t pruned = 0;      ///< configurations of this dtype and d_head that rules dropped
  std::int64_t invalid = 0;     ///< ... that the family cannot build
};

/// Every problem that the options describe: for each dtype and head dimension that a kept
/// configuration has, each sequence length. Error(usage) for extents out of range.
[[nodiscard]] std::vector<ProblemPlan> plan_problems(const Family& family, const Plan& plan,
                                                     const ProblemOptions& options);

/// The values that the options give to parameters bound to the problem.
[[nodiscard]] Binding binding_of(const ProblemOptions& options);

/// The problem of one length for the dtype and d_head of a configuration; a family without such
/// a parameter gets the options' first value, else FP16 and 128.
[[nodiscard]] Problem problem_for(const Family& family, const Config& config,
                                  const ProblemOptions& options, std::int64_t seq_len);

}  // namespace fatune
