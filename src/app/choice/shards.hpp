#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "report/shard.hpp"

namespace fatune {

struct ProblemPlan;

/// Options that select a part of a sweep (docs/fleets.md).
struct ShardOptions {
  std::optional<Shard> shard;  ///< number and count; absent: the whole sweep
  std::string fleet;           ///< sweeps with different names are never one run
};

/// Returns the number of the shard that has the problem, from 1. It depends only on the arguments,
/// not on the machine or on the sweep's other problems.
[[nodiscard]] int shard_of(const Problem& problem, int count);

/// Parses "3/8", or "auto" for this task of a Slurm job array. Throws Error(usage) for any other
/// text, and if there is no such task or its array has gaps.
[[nodiscard]] Shard read_shard(const std::string& text);

/// Keeps only the shard's problems of a sweep, and returns the shard without the sweep's hash. If
/// no shard is requested, keeps all problems and returns nothing.
[[nodiscard]] std::optional<Shard> take_shard(const ShardOptions& options,
                                              std::vector<ProblemPlan>& problems);

}  // namespace fatune
