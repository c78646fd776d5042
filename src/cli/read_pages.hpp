#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/command_page.hpp"

namespace fatune {

/// Returns all that the parser accepts and the help shows. `app`: the program or one of its
/// commands.
[[nodiscard]] CommandPage read_pages(const CLI::App& app);

/// Parses an option's type in the help. "race|exhaustive" has two literal words. "FILE|-" has a
/// kind of value, in capitals, and a literal word. ",..." at the end means several values, joined
/// by commas. Throws std::logic_error for a kind that is not in the table in read_pages.cpp.
[[nodiscard]] ValueWords value_words(std::string type);

}  // namespace fatune
