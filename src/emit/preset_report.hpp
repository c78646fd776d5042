#pragma once

#include <string>
#include <vector>

#include "attention/problem_preset.hpp"
#include "emit/field.hpp"
#include "emit/page.hpp"

namespace fatune {

[[nodiscard]] const std::vector<Field<ProblemPreset>>& preset_fields();

[[nodiscard]] std::string print_presets(const std::vector<ProblemPreset>& presets,
                                        const Page& page);

}  // namespace fatune
