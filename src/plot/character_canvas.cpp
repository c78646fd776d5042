#include "plot/character_canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/visible_text.hpp"

namespace fatune {
namespace {

constexpr double kDotsAcross = 2.0;
constexpr double kDotsDown = 4.0;

/// The bit of each dot in U+2800 to U+28FF, by row and column of the dot.
constexpr std::array<std::array<std::uint8_t, 2>, 4> kDotBits{
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

std::string braille(std::uint8_t dots) {
  return {'\xE2', static_cast<char>(0xA0U | dots >> 6U), static_cast<char>(0x80U | (dots & 0x3FU))};
}

}  // namespace

CharacterCanvas::CharacterCanvas(std::size_t columns, std::size_t rows)
    : columns_(columns), rows_(rows), cells_(columns * rows) {}

void CharacterCanvas::put(std::size_t column, std::size_t row, std::string_view character) {
  if (column < columns_ && row < rows_) {
    cells_[row * columns_ + column].character = character;
  }
}

void CharacterCanvas::write(std::size_t column, std::size_t row, std::string_view text) {
  while (!text.empty()) {
    std::string_view character = first_columns(text, 1);
    if (character.empty()) {
      character = first_columns(text, 2);
    }
    put(column++, row, character);
    if (width_of(character) > 1) {
      put(column++, row, "");
    }
    text.remove_prefix(character.size());
  }
}

void CharacterCanvas::dot(const CanvasPlace& place) {
  const double x = std::floor(place.column * kDotsAcross);
  const double y = std::floor(place.row * kDotsDown);
  if (x < 0.0 || y < 0.0 || x >= kDotsAcross * static_cast<double>(columns_) ||
      y >= kDotsDown * static_cast<double>(rows_)) {
    return;
  }
  const auto across = static_cast<std::size_t>(x);
  const auto down = static_cast<std::size_t>(y);
  Cell& cell = cells_[down / 4 * columns_ + across / 2];
  cell.dots = static_cast<std::uint8_t>(cell.dots | kDotBits.at(down % 4).at(across % 2));
}

void CharacterCanvas::line(const CanvasPlace& from, const CanvasPlace& to, bool dashed) {
  constexpr std::size_t kDash = 3;  // length in dots
  const double length = std::max(std::abs(to.column - from.column) * kDotsAcross,
                                 std::abs(to.row - from.row) * kDotsDown);
  const auto steps = static_cast<std::size_t>(std::ceil(length));
  for (std::size_t i = 0; i <= steps; ++i) {
    const double part = steps == 0 ? 0.0 : static_cast<double>(i) / static_cast<double>(steps);
    if (!dashed || i / kDash % 2 == 0) {
      dot({from.column + (to.column - from.column) * part, from.row + (to.row - from.row) * part});
    }
  }
}

std::string CharacterCanvas::shown(const Cell& cell) {
  if (cell.character) {
    return *cell.character;
  }
  return cell.dots == 0 ? " " : braille(cell.dots);
}

std::string CharacterCanvas::text() const {
  std::string text;
  for (std::size_t row = 0; row < rows_; ++row) {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) {
      line += shown(cells_[row * columns_ + column]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace fatune
