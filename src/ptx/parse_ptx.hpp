#pragma once

#include <string>
#include <string_view>

#include "ptx/module.hpp"

namespace fatune {

/// Reads the structure of PTX as NVRTC writes it: functions, instructions with their lines, which
/// registers they name, and .loc. Instructions themselves are not checked. Error(bad_file), naming
/// `origin` and the line: no function in it, cut off, scopes that do not close, no text.
[[nodiscard]] PtxModule parse_ptx(std::string_view text, const std::string& origin);

}  // namespace fatune
