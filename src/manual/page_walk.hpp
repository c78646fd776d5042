#pragma once

#include <string>
#include <vector>

#include "manual/command_page.hpp"

namespace fatune {

/// The page and the pages of all commands below it, in the order of the help.
[[nodiscard]] std::vector<const CommandPage*> all_pages(const CommandPage& page);

/// The command's words: "fatune sass map". `separator` replaces the blanks.
[[nodiscard]] std::string command_text(const CommandPage& page, const std::string& separator = " ");

/// Whether the next word after the option is its value.
[[nodiscard]] bool takes_word(const OptionPage& option);

}  // namespace fatune
