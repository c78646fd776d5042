#include <algorithm>

#include "emit/document/render.hpp"
#include "plot/character_plot.hpp"

namespace fatune {
namespace {

struct OnTerminal {
  const Page& page;

  std::string operator()(const block::Text& text) const { return text.lines; }
  std::string operator()(const block::ParagraphEnd&) const { return {}; }
  std::string operator()(const block::Heading& heading) const {
    return coloured(heading.line, TextColour::bold, page.colour) + "\n";
  }
  std::string operator()(const block::Warning& warning) const {
    return coloured(warning.line, TextColour::yellow, page.colour) + "\n";
  }
  std::string operator()(const block::Verbatim& verbatim) const { return verbatim.lines; }
  std::string operator()(const block::Rows& rows) const {
    if (!rows.paragraphs.empty()) {
      return paragraphs_of(rows);
    }
    const Table table = first_rows(rows);
    return draw_plain(text_for_people(table, rows.kind), page.columns) +
           more_rows_text(table.rows.size(), rows.table.rows.size());
  }
  std::string operator()(const block::Figure& figure) const {
    return "\n" + character_plot(figure.plot, page.columns);
  }
  std::string operator()(const block::Fold& fold) const { return "\n" + fold.line + "\n"; }
  std::string operator()(const block::FoldEnd&) const { return {}; }
  [[nodiscard]] std::string paragraphs_of(const block::Rows& rows) const {
    std::string text;
    for (const auto& paragraph : rows.paragraphs) {
      text += coloured(paragraph.word, paragraph.colour, page.colour) + paragraph.text;
    }
    return text;
  }
};

}  // namespace

std::string render_terminal(const Blocks& blocks, const Page& page) {
  std::string text;
  for (const Block& block : blocks) {
    text += std::visit(OnTerminal{page}, block);
  }
  return text;
}

}  // namespace fatune
