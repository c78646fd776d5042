#include "core/visible_text.hpp"
#include "emit/document/render.hpp"
#include "plot/character_plot.hpp"

namespace fatune {
namespace {

constexpr std::size_t kColumns = 100;

struct InMarkdown {
  std::string operator()(const block::Text& text) const { return markdown_lines(text.lines); }
  std::string operator()(const block::Line& line) const {
    return markdown_lines(visible_line(line.line)) + "\n";
  }
  std::string operator()(const block::ParagraphEnd&) const { return "\n"; }
  std::string operator()(const block::Heading& heading) const {
    return "## " + markdown(heading.line) + "\n\n";
  }
  std::string operator()(const block::Warning& warning) const {
    return "**" + markdown(warning.line) + "**\n";
  }
  std::string operator()(const block::Verbatim& verbatim) const {
    return markdown_code(verbatim.lines);
  }
  std::string operator()(const block::Rows& rows) const {
    return draw_markdown(text_for_people(rows.table, rows.kind)) +
           (rows.more == 0 ? "" : "\n" + more_rows_text(rows.more));
  }
  std::string operator()(const block::Figure& figure) const {
    return markdown_code(character_plot(figure.plot, kColumns));
  }
  std::string operator()(const block::Fold& fold) const {
    return "### " + markdown(fold.line) + "\n\n";
  }
  std::string operator()(const block::FoldEnd&) const { return "\n"; }
};

}  // namespace

std::string render_markdown(const Blocks& blocks) {
  std::string text;
  for (const Block& block : blocks) {
    text += std::visit(InMarkdown{}, block);
  }
  return text;
}

}  // namespace fatune
