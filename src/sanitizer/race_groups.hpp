#pragma once

#include <cstdint>
#include <vector>

#include "core/sanitizer.hpp"

namespace fatune {

/// Numbers the groups of races from 1. Races that share an instruction, directly or through others,
/// are in one group, because one missing barrier causes many of them. Other findings are in no
/// group.
void number_race_groups(std::vector<SanitizerFinding>& findings);

/// The number of groups.
[[nodiscard]] std::int64_t count_groups(const std::vector<SanitizerFinding>& findings);

}  // namespace fatune
