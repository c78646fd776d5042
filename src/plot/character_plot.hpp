#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plot/plot.hpp"

namespace fatune {

/// Draws the plot with braille and box characters (UTF-8), at most `columns` wide, with axes, ticks
/// and legend. It is readable without colour. Lines end with a line break. Bytes that a terminal
/// would interpret as controls are shown as U+FFFD. Boxes, steps, parallel axes and intervals along
/// y are in SVG only; boxes and parallel axes are drawn as a note that says so. `columns`: 0 means
/// 100; values below 40 mean 40.
[[nodiscard]] std::string character_plot(const Plot& plot, std::size_t columns);

/// A place on a canvas, in columns and rows from its upper left corner; finite.
struct CanvasPlace {
  double column = 0.0;
  double row = 0.0;
};

/// Cells that hold one character, or half of a wide one. Cells without a character show their
/// braille dots. Anything outside the canvas is ignored.
class CharacterCanvas {
 public:
  CharacterCanvas(std::size_t columns, std::size_t rows);

  /// `character` takes one column.
  void put(std::size_t column, std::size_t row, std::string_view character);
  /// Writes the text's characters into consecutive cells of a row.
  void write(std::size_t column, std::size_t row, std::string_view text);
  /// Sets the dot at `place`. Each cell has 2 by 4 dots.
  void dot(const CanvasPlace& place);
  void line(const CanvasPlace& from, const CanvasPlace& to, bool dashed = false);

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// One line for each row, without trailing blanks.
  [[nodiscard]] std::string text() const;

 private:
  struct Cell {
    std::optional<std::string> character;  ///< empty: the right half of a wide character
    std::uint8_t dots = 0;
  };
  [[nodiscard]] static std::string shown(const Cell& cell);

  std::size_t columns_;
  std::size_t rows_;
  std::vector<Cell> cells_;
};

// The parts of character_plot(). Lines are at most `columns` wide and end with a line break.

/// Both return an empty text if nothing can be drawn.
[[nodiscard]] std::string character_xy(const XyPlot& plot, std::size_t columns);
[[nodiscard]] std::string character_heat(const HeatMap& plot, std::size_t columns);

/// Wraps text of any bytes into lines. An empty text has no line.
[[nodiscard]] std::string character_lines(std::string_view text, std::size_t columns);

}  // namespace fatune
