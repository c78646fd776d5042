#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

/// A problem of a sweep, and its place among all of the sweep's problems, from 0.
struct PlacedProblem {
  std::int64_t place = 0;
  Problem problem;
};

/// The part of a sweep that a run covers (docs/fleets.md).
struct Shard {
  std::vector<int> numbers;  ///< from 1; several if runs are shown as one
  int count = 1;             ///< number of shards of the sweep
  std::string fleet;         ///< the user's name for the whole; may be empty
  std::string sweep;         ///< hash of the whole and its conditions; equal in all of its runs
  std::int64_t sweep_problems = 0;      ///< problems of the whole sweep
  std::vector<PlacedProblem> problems;  ///< those of this shard, in order
};

/// For example "3/8", or "1,2,5/8" for several shards.
[[nodiscard]] std::string shard_text(const Shard& shard);
/// Parses a shard_text() into numbers and count. Error(usage) unless the numbers are from 1 to the
/// count.
[[nodiscard]] Shard parse_shard(std::string_view text);

}  // namespace fatune
