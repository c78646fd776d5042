#pragma once

#include <string>

#include "manual/command_page.hpp"

namespace fatune {

/// Parses an option's type in the help. "race|exhaustive" has two literal words. "FILE|-" has a
/// kind of value, in capitals, and a literal word. ",..." at the end means several values, joined
/// by commas. Throws std::logic_error for a kind that is not in the table in value_words.cpp.
[[nodiscard]] ValueWords value_words(std::string type);

}  // namespace fatune
