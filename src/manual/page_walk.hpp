#pragma once

#include <string>
#include <vector>

#include "manual/command_page.hpp"

namespace fatune {

/// The page and those of all commands below it, in the order of the help.
[[nodiscard]] std::vector<const CommandPage*> all_pages(const CommandPage& page);

/// "fatune sass map"; `separator` in place of the blanks.
[[nodiscard]] std::string command_text(const CommandPage& page, const std::string& separator = " ");

/// Whether the next word after the option is its value.
[[nodiscard]] bool takes_word(const OptionPage& option);

}  // namespace fatune
