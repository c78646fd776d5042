#pragma once

#include <string>
#include <vector>

#include "attention/problem_preset.hpp"
#include "emit/document/document.hpp"
#include "emit/document/field.hpp"

namespace fatune {

[[nodiscard]] const Fields<ProblemPreset>& preset_fields();

[[nodiscard]] Document presets_document(const std::vector<ProblemPreset>& presets);

}  // namespace fatune
