#include "emit/document/document.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace fatune {

Json json_head(const std::string& name, int version) {
  return {{"format", "fatune." + name}, {"format_version", version}};
}

void append(Blocks& blocks, Blocks more) {
  blocks.insert(blocks.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

std::size_t count_shown(std::size_t rows, std::size_t top) {
  return top == 0 ? rows : std::min(top, rows);
}

std::string more_rows_text(std::size_t more) {
  return more == 0 ? std::string() : fmt::format("... and {} more (--top 0 shows all)\n", more);
}

}  // namespace fatune
