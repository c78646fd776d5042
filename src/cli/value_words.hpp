#pragma once

#include <string>

#include "manual/command_page.hpp"

namespace fatune {

/// What an option's type in the help says of its values. "race|exhaustive": words as they are;
/// "FILE|-": a kind of value, in capitals, or a word; ",..." at the end: several, joined by commas.
/// std::logic_error for a kind that is not in the table in value_words.cpp.
[[nodiscard]] ValueWords value_words(std::string type);

}  // namespace fatune
