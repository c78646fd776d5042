#pragma once

#include <vector>

#include "app/option_groups.hpp"
#include "attention/problem_preset.hpp"

namespace fatune {

/// configs/presets.json, in its order. Error(bad_file) when it is not as its schema says.
[[nodiscard]] std::vector<ProblemPreset> load_presets();

/// Sets what a preset says; batch and lengths stay as they are.
void apply_preset(const ProblemPreset& preset, ProblemOptions& problems);

}  // namespace fatune
