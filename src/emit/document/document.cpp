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

Table first_rows(const block::Rows& rows) {
  Table table = rows.table;
  const std::size_t all = table.rows.size();
  table.rows.resize(rows.top == 0 ? all : std::min(rows.top, all));
  return table;
}

std::string more_rows_text(std::size_t shown, std::size_t all) {
  return shown == all ? std::string()
                      : fmt::format("... and {} more (--top 0 shows all)\n", all - shown);
}

}  // namespace fatune
