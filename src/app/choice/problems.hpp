#pragma once

#include <cstdint>
#include <vector>

#include "app/option_groups.hpp"
#include "attention/problem.hpp"
#include "attention/problem_details.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
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

}  // namespace fatune
