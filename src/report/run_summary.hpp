#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "attention/problem.hpp"

namespace fatune {

/// The fastest configuration of one problem of a run.
struct RunBest {
  Problem problem;
  std::string short_form;
  double time_us = 0.0;
};

/// One row of the list of stored runs.
struct RunSummary {
  std::int64_t id = 0;
  std::string started_at;  ///< ISO 8601, UTC
  std::string device;
  std::string command_line;
  bool complete = false;
  std::string shard{};   ///< shard_text() of a part of a sweep; empty: whole
  bool measured = true;  ///< false: an estimate
  std::int64_t problems = 0;
  std::int64_t outcomes = 0;  ///< finished configurations, over all problems
  std::int64_t reused = 0;    ///< outcomes that were taken from earlier runs
  /// The best of the problem with the most literature_flop per second. Absent for estimates.
  std::optional<RunBest> best{};
};

}  // namespace fatune
