#include "emit/document/colour.hpp"

#include <array>

#include <fmt/format.h>

namespace fatune {

std::string coloured(std::string_view text, TextColour colour, bool on) {
  static constexpr std::array<int, 4> kCodes{1, 32, 33, 31};
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", kCodes.at(static_cast<std::size_t>(colour)), text)
            : std::string(text);
}

}  // namespace fatune
