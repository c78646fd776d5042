#pragma once

#include <string>
#include <string_view>

#include "ptx/module.hpp"

namespace fatune {

/// Reads the structure of PTX as NVRTC writes it: functions, instructions with their lines, the
/// registers that they name, and .loc. Instructions themselves are not checked. Throws
/// Error(bad_file), naming `origin` and the line, if there is no function, the PTX is cut off,
/// scopes do not close, or the input is not text.
[[nodiscard]] PtxModule parse_ptx(std::string_view text, const std::string& origin);

}  // namespace fatune
