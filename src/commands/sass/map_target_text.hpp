#pragma once

#include <string>

#include "core/map_target.hpp"

namespace fatune {

/// Parses "softmax.cuh:40". Throws Error(usage) for a text without a file or a line.
[[nodiscard]] MapTarget read_source_target(const std::string& text);
/// Parses a line number such as "70".
[[nodiscard]] MapTarget read_ptx_target(const std::string& text);
/// Parses an address such as "0x22d0", as listings print it. The 0x is optional.
[[nodiscard]] MapTarget read_sass_target(const std::string& text);

}  // namespace fatune
