#pragma once

#include <string>
#include <vector>

#include "app/option_groups.hpp"

namespace fatune {

/// The capabilities of the streams: colour on a terminal that is not "dumb", unless NO_COLOR (any
/// value but the empty one), CLICOLOR_FORCE or CLICOLOR say otherwise; a live progress line where
/// standard error is such a terminal; how wide standard output is: as the terminal says, else
/// COLUMNS.
[[nodiscard]] OutputOptions terminal_defaults();

/// "fatune" and the words behind it, as a shell would take them again.
[[nodiscard]] std::string quoted_command_line(const std::vector<std::string>& words);

}  // namespace fatune
