#pragma once

#include <string>

#include "core/map_target.hpp"

namespace fatune {

/// "softmax.cuh:40". Error(usage) for a text without a file or a line.
[[nodiscard]] MapTarget read_source_target(const std::string& text);
/// "70"
[[nodiscard]] MapTarget read_ptx_target(const std::string& text);
/// "0x22d0", as listings print it; the 0x may be left out.
[[nodiscard]] MapTarget read_sass_target(const std::string& text);

}  // namespace fatune
