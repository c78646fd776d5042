#pragma once

#include <vector>

#include "app/option_groups.hpp"
#include "attention/problem.hpp"

namespace fatune {

/// Loads configs/presets.json, in its order. Throws Error(bad_file) if it violates its schema.
[[nodiscard]] std::vector<ProblemPreset> load_presets();

/// Applies a preset. The batch and the lengths stay as they are.
void apply_preset(const ProblemPreset& preset, ProblemOptions& problems);

}  // namespace fatune
