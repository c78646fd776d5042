#pragma once

#include <span>
#include <string>

#include "manual/command_page.hpp"

namespace fatune {

/// What may complete the last of the words that were typed after the program's name, which may be
/// empty. Line 1: the beginning of that word that is not completed ("--format=", "fp16,"). Line 2:
/// which of "files", "folders" and "list" apply; words of a list are joined by commas. Each further
/// line: a word, then, if it has a description, a tab and the description.
[[nodiscard]] std::string completions(const CommandPage& program,
                                      std::span<const std::string> typed);

}  // namespace fatune
