#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/measure_policy.hpp"
#include "report/report.hpp"

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

/// One replay of a search with one seed (docs/search.md).
struct SearchReplay {
  std::optional<std::size_t> tried;  ///< tries until one was close to the best; absent: none was
  /// How far the best of the first SearchTrial::part tries was behind the best of all.
  double behind_percent = 0.0;
  std::size_t ended_after = 0;        ///< tries until it ended; 0: the replay stopped before
  double ended_behind_percent = 0.0;  ///< how far the best of these was behind the best of all
};

/// A search replayed on the recorded space of a problem.
struct SearchTrial {
  Problem problem;
  SearchKind search = SearchKind::automatic;
  std::size_t configs = 0;            ///< recorded ones that can run
  std::size_t part = 0;               ///< tries after which SearchReplay::behind_percent is taken
  std::vector<SearchReplay> replays;  ///< one for each seed
};

/// The greatest distance that counts as close to the best, and the part of a space after which
/// searches are compared.
inline constexpr double kCloseToBest = 0.01;
inline constexpr double kPartOfSpace = 0.05;

/// One variant of a kernel on one problem.
struct CaseResult {
  std::string variant;
  Problem problem;
  std::size_t candidates = 0;     ///< configurations that were tried
  std::optional<Result> best;     ///< absent: none has a time
  std::string detail;             ///< why it has no time; empty: it has one
  std::vector<NamedValue> shown;  ///< requested parameters and quantities of the best

  // Filled by rank/case_comparison.hpp.
  std::optional<double> speed_up;  ///< over the first variant on the same problem
  std::optional<double> scaling;   ///< FLOP/s over those of the same variant on its first problem
};

/// The results of `fatune cases`.
struct CasesReport {
  std::string name;  ///< key or file of the cases
  std::string summary;
  std::string family;
  std::string space;
  bool measured = false;  ///< false: every time is an estimate
  bool complete = true;
  DeviceLimits device;
  Toolchain toolchain;
  std::vector<CaseResult> results;  ///< ordered by problem, then by variant
};

}  // namespace fatune
