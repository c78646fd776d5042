#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "report/shard.hpp"

namespace fatune {

struct ProblemPlan;

/// Which part of a sweep this is (docs/fleets.md).
struct ShardOptions {
  std::optional<Shard> shard;  ///< number and count; absent: the whole
  std::string fleet;           ///< sweeps of different names are never one run
};

/// The number of the shard, from 1, that has a problem. It depends on nothing but the two: neither
/// on the machine nor on the sweep's other problems.
[[nodiscard]] int shard_of(const Problem& problem, int count);

/// As the text says: "3/8", or "auto": this task of a Slurm job array. Error(usage) for anything
/// else, and when there is no such task or its array has gaps.
[[nodiscard]] Shard read_shard(const std::string& text);

/// Leaves those of a sweep's problems that the shard has, and returns it without the sweep's hash;
/// nothing, and all problems, when none is asked for.
[[nodiscard]] std::optional<Shard> take_shard(const ShardOptions& options,
                                              std::vector<ProblemPlan>& problems);

}  // namespace fatune
