#pragma once

#include <string>
#include <string_view>

namespace fatune {

enum class TextColour { bold, green, yellow, red };

/// The text between the colour's ANSI codes; unchanged when `on` is false.
[[nodiscard]] std::string coloured(std::string_view text, TextColour colour, bool on);

}  // namespace fatune
