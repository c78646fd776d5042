#pragma once

#include "core/outcome.hpp"

namespace fatune {

/// The input on which O came closest to its limit, or furthest beyond it. Precondition: `inputs` is
/// not empty.
[[nodiscard]] const ErrorStats& tightest_input(const std::vector<ErrorStats>& inputs);

}  // namespace fatune
