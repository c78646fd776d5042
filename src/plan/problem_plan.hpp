#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// A configuration that is tried although a rule of the space dropped it.
struct AuditedConfig {
  Config config;
  std::string rule;
};

/// A configuration that a rule of the space drops on this problem; on another one it may not.
struct PrunedConfig {
  Config config;
  Pruned why;
};

/// The configurations to try on one problem.
struct ProblemPlan {
  Problem problem;
  int run = 1;                      ///< which repetition of the whole run, from 1
  std::optional<double> calls;      ///< how often a workload calls the problem; absent: no workload
  std::optional<double> before_us;  ///< of a call with what the program uses; absent: unknown
  double weight = 1.0;              ///< its share of a budget, relative to other problems'
  std::vector<Config> configs;      ///< ordered by parameter values
  std::vector<Config> suggested;    ///< fast on similar problems, best first
  std::optional<Config> kept_in_race;  ///< the one whose time is needed even if it is behind
  std::optional<int> repeats;  ///< samples of each, in place of a race; absent: the policy's
  std::vector<PrunedConfig> pruned_here;
  std::int64_t pruned = 0;   ///< configurations of this dtype and d_head that rules dropped
  std::int64_t invalid = 0;  ///< ... that the family cannot build
  std::vector<AuditedConfig> audited;
  std::vector<std::pair<std::string, std::int64_t>> pruned_by_rule;  ///< ordered like the rules
};

}  // namespace fatune
