#pragma once

#include <cstdint>
#include <vector>

#include "core/sanitizer.hpp"

namespace fatune {

/// Numbers the groups of races from 1: those that have an instruction in common, be it through
/// others, are of one, as one missing barrier makes many of them. Other findings are of none.
void number_race_groups(std::vector<SanitizerFinding>& findings);

/// So many groups there are.
[[nodiscard]] std::int64_t count_groups(const std::vector<SanitizerFinding>& findings);

}  // namespace fatune
