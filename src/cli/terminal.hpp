#pragma once

#include <string>
#include <vector>

#include "app/option_groups.hpp"

namespace fatune {

/// Returns the capabilities of the standard streams. Colour is on for a terminal that is not
/// "dumb", unless NO_COLOR (any non-empty value), CLICOLOR_FORCE or CLICOLOR say otherwise. The
/// progress line is live if standard error is such a terminal. The width of standard output is what
/// its terminal reports, else COLUMNS.
[[nodiscard]] OutputOptions terminal_defaults();

/// Returns "fatune" and the words, quoted for a shell.
[[nodiscard]] std::string quoted_command_line(const std::vector<std::string>& words);

}  // namespace fatune
