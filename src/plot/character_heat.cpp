#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/ranges.hpp"
#include "core/visible_text.hpp"
#include "plot/character_canvas.hpp"
#include "plot/palette.hpp"
#include "plot/plot_values.hpp"

namespace fatune {
namespace {

constexpr std::array<std::string_view, 5> kBlocks{" ", "░", "▒", "▓", "█"};

/// The shading of a cell. With a middle, it shows the distance from it: signs tell the sides apart.
std::string_view block_of(const HeatCell& cell, const HeatMap& plot, const HeatScale& scale) {
  const double part = scale.part_of(cell.value);
  return kBlocks.at(colour_number(plot.middle ? std::abs(2.0 * part - 1.0) : part, kBlocks.size()));
}

struct HeatLayout {
  std::size_t names = 0;    ///< columns of text that row names take
  std::size_t column = 0;   ///< columns of text for a map column, with the blank before it
  std::size_t at_once = 0;  ///< columns of the map that fit side by side
};

HeatLayout layout_of(const HeatMap& plot, const std::vector<HeatCell>& cells, std::size_t columns) {
  constexpr std::size_t kMostOfCell = 12;
  std::size_t names = 0;
  for (const std::string& name : plot.y.categories) {
    names = std::max(names, width_of(visible_text(name)));
  }
  std::size_t cell_width = 0;
  for (const HeatCell& cell : cells) {
    cell_width = std::max(cell_width, width_of(visible_text(heat_text(cell, plot.middle))) + 1);
  }
  for (const std::string& name : plot.x.categories) {
    cell_width = std::max(cell_width, widest_word(visible_text(name, 2 * kMostOfCell)));
  }
  HeatLayout layout;
  layout.names = std::min(names, columns * 45 / 100);
  layout.column = std::min(cell_width, kMostOfCell) + 1;
  layout.at_once = std::max<std::size_t>((columns - layout.names) / layout.column, 1);
  return layout;
}

/// Columns of the map that fit side by side.
struct MapPart {
  std::size_t first = 0;
  std::size_t last = 0;  ///< exclusive
  std::vector<std::vector<std::string>> headings{};
  std::size_t heading_lines = 0;
  std::map<std::size_t, std::size_t> rows{};  ///< the text's row of each row of the map

  [[nodiscard]] bool has(const HeatCell& cell) const {
    return first <= cell.column && cell.column < last;
  }
};

/// The rows to draw, with their rows in the text: all rows if the whole map fits, else those with a
/// cell in this part.
std::map<std::size_t, std::size_t> rows_of(const HeatMap& plot, const std::vector<HeatCell>& cells,
                                           const MapPart& part) {
  std::set<std::size_t> rows;
  const bool whole = part.first == 0 && part.last == plot.x.categories.size();
  for (std::size_t row = 0; whole && row < plot.y.categories.size(); ++row) {
    rows.insert(row);
  }
  for (const HeatCell& cell : cells) {
    if (part.has(cell)) {
      rows.insert(cell.row);
    }
  }
  std::map<std::size_t, std::size_t> places;
  for (const std::size_t row : rows) {
    places.emplace(row, part.heading_lines + places.size());
  }
  return places;
}

MapPart part_from(std::size_t first, const HeatMap& plot, const std::vector<HeatCell>& cells,
                  const HeatLayout& layout) {
  MapPart part{first, std::min(first + layout.at_once, plot.x.categories.size())};
  for (std::size_t i = first; i < part.last; ++i) {
    part.headings.push_back(wrapped(visible_text(plot.x.categories[i], 100), layout.column - 1));
    part.heading_lines = std::max(part.heading_lines, part.headings.back().size());
  }
  part.rows = rows_of(plot, cells, part);
  return part;
}

void write_right(CharacterCanvas& canvas, std::size_t end, std::size_t row, std::string_view text) {
  canvas.write(end - width_of(text), row, text);
}

void write_names(const HeatMap& plot, const HeatLayout& layout, const MapPart& part,
                 CharacterCanvas& canvas) {
  for (std::size_t i = 0; i < part.headings.size(); ++i) {
    const std::vector<std::string>& lines = part.headings[i];
    for (std::size_t line = 0; line < lines.size(); ++line) {
      write_right(canvas, layout.names + layout.column * (i + 1),
                  part.heading_lines - lines.size() + line, lines[line]);
    }
  }
  for (const auto& [row, place] : part.rows) {
    write_right(canvas, layout.names, place, visible_text(plot.y.categories[row], layout.names));
  }
}

std::string text_of_part(const HeatMap& plot, const std::vector<HeatCell>& cells,
                         const HeatScale& scale, const HeatLayout& layout, const MapPart& part) {
  CharacterCanvas canvas(layout.names + layout.column * (part.last - part.first),
                         part.heading_lines + part.rows.size());
  write_names(plot, layout, part, canvas);
  for (const HeatCell& cell : cells) {
    if (part.has(cell)) {
      const std::size_t end = layout.names + layout.column * (cell.column - part.first + 1) - 1;
      const std::size_t row = part.rows.at(cell.row);
      write_right(canvas, end, row, visible_text(heat_text(cell, plot.middle), layout.column - 2));
      canvas.put(end, row, block_of(cell, plot, scale));
    }
  }
  return canvas.text();
}

std::string legend_of_blocks(const HeatMap& plot, const HeatScale& scale, std::size_t columns) {
  const std::string range =
      plot.middle ? fmt::format("░▒▓█ from {:.3g} to {:.3g} on both sides: ", *plot.middle,
                                scale.greatest())
                  : fmt::format("░▒▓█ from {:.3g} to {:.3g}: ", scale.least(), scale.greatest());
  return character_lines(range + plot.value_title, columns);
}

}  // namespace

std::string character_heat(const HeatMap& plot, std::size_t columns) {
  const std::vector<HeatCell> cells = drawable_cells(plot);
  if (cells.empty()) {
    return "";
  }
  const HeatScale scale(mapped(cells, &HeatCell::value), plot.middle);
  const HeatLayout layout = layout_of(plot, cells, columns);
  std::string text = legend_of_blocks(plot, scale, columns) +
                     character_lines(fmt::format("{} by {}", plot.y.title, plot.x.title), columns);
  for (std::size_t first = 0; first < plot.x.categories.size(); first += layout.at_once) {
    text += (first == 0 ? "" : "\n") +
            text_of_part(plot, cells, scale, layout, part_from(first, plot, cells, layout));
  }
  return text;
}

}  // namespace fatune
