#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "core/members.hpp"

namespace fatune {

/// A problem of a sweep, and its place among all of the sweep's problems.
struct PlacedProblem {
  std::int64_t place = 0;
  Problem problem;
};
FATUNE_DESCRIBED(PlacedProblem, (place, "place among all of the sweep's problems, from 0"),
                 (problem, "the problem"))

/// The part of a sweep that a run covers (docs/fleets.md).
struct Shard {
  std::vector<int> numbers;
  int count = 1;
  std::string fleet;
  std::string sweep;
  std::int64_t sweep_problems = 0;
  std::vector<PlacedProblem> problems;
};
FATUNE_DESCRIBED(Shard,
                 (numbers, "numbers of the shards, from 1; several if runs are shown as one"),
                 (count, "number of shards of the sweep"),
                 (fleet, "the user's name for the whole; may be empty"),
                 (sweep, "hash of the whole and its conditions; equal in all of its runs"),
                 (sweep_problems, "number of problems of the whole sweep"),
                 (problems, "the problems of these shards, in order"))

/// For example "3/8", or "1,2,5/8" for several shards.
[[nodiscard]] std::string shard_text(const Shard& shard);
/// Parses a shard_text() into numbers and count. Error(usage) unless the numbers are from 1 to the
/// count.
[[nodiscard]] Shard parse_shard(std::string_view text);

}  // namespace fatune
