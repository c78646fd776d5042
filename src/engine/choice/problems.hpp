#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/options.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Loads configs/presets.json, in its order. Throws Error(bad_file) if it violates its schema.
[[nodiscard]] std::vector<ProblemPreset> load_presets();

/// Applies a preset. The batch and the lengths stay as they are.
void apply_preset(const ProblemPreset& preset, ProblemOptions& problems);

/// A length that no tile divides, and that is longer than a tile of 64.
inline constexpr std::int64_t kRaggedSeqLen = 101;

/// Returns the problems on which a configuration is checked if no option names a length: `whole`, a
/// length that tiles divide; `ragged`, one that they do not (kRaggedSeqLen); and `ragged` with a
/// causal mask, or `whole` with one if the family has no ragged causal problems. If the options say
/// whether the mask is causal, all problems are as they say. Problems that the family's rules
/// exclude are left out; if they exclude all, the first remains, so that the reason is reported.
/// `whole` and `ragged` have one length each.
[[nodiscard]] std::vector<Problem> default_problems(const Family& family, const Config& config,
                                                    const ProblemOptions& whole,
                                                    const ProblemOptions& ragged,
                                                    const DeviceLimits& limits);

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

/// Keeps only the shard's problems of a sweep: those of shard_of() or, of a workload, of
/// balanced_shards(). Returns the shard without the sweep's hash. If no shard is requested, keeps
/// all problems and returns nothing.
[[nodiscard]] std::optional<Shard> take_shard(const ShardOptions& options,
                                              std::vector<ProblemPlan>& problems);

}  // namespace fatune
