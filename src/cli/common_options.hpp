#pragma once

#include <string>
#include <vector>

namespace fatune {

/// The options that the help of a command describes first, in that order. `command`: its words
/// behind the program's name, "sass map". Empty for a command with few options.
[[nodiscard]] std::vector<std::string> common_option_names(const std::string& command);

}  // namespace fatune
