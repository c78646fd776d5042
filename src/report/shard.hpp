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

/// The part of a sweep that a run is of (docs/fleets.md).
struct Shard {
  std::vector<int> numbers;  ///< from 1; of a run one, of runs that are shown as one several
  int count = 1;             ///< shards of the sweep
  std::string fleet;         ///< the name that the user gave to the whole; may be empty
  std::string sweep;         ///< hash of the whole and its conditions: runs of one hash are one run
  std::int64_t sweep_problems = 0;      ///< problems of the whole sweep
  std::vector<PlacedProblem> problems;  ///< those of this shard, in their order
};

/// "3/8"; "1,2,5/8" of several.
[[nodiscard]] std::string shard_text(const Shard& shard);
/// Reads that back: numbers and count alone. Error(usage) unless the text is such numbers, from 1
/// to the count.
[[nodiscard]] Shard parse_shard(std::string_view text);

}  // namespace fatune
