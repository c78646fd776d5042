#include "emit/document/render.hpp"

#include <array>

#include <fmt/format.h>

#include "core/visible_text.hpp"
#include "emit/document/table_view.hpp"
#include "plot/character_plot.hpp"

namespace fatune {
namespace {

/// The text between the colour's ANSI codes; unchanged when `on` is false.
std::string coloured(std::string_view text, TextColour colour, bool on) {
  static constexpr std::array<int, 4> kCodes{1, 32, 33, 31};
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", kCodes.at(static_cast<std::size_t>(colour)), text)
            : std::string(text);
}

struct OnTerminal {
  const Page& page;

  std::string operator()(const block::Text& text) const { return visible_lines(text.lines); }
  std::string operator()(const block::Line& line) const { return visible_line(line.line) + "\n"; }
  std::string operator()(const block::ParagraphEnd&) const { return {}; }
  std::string operator()(const block::Heading& heading) const {
    return coloured(visible_line(heading.line), TextColour::bold, page.colour) + "\n";
  }
  std::string operator()(const block::Warning& warning) const {
    return coloured(visible_line(warning.line), TextColour::yellow, page.colour) + "\n";
  }
  std::string operator()(const block::Verbatim& verbatim) const {
    return visible_lines(verbatim.lines);
  }
  std::string operator()(const block::Rows& rows) const {
    if (!rows.paragraphs.empty()) {
      return paragraphs_of(rows);
    }
    return draw_plain(text_for_people(rows.table, rows.kind), page.columns) +
           more_rows_text(rows.more);
  }
  std::string operator()(const block::Figure& figure) const {
    return "\n" + character_plot(figure.plot, page.columns);
  }
  std::string operator()(const block::Fold& fold) const {
    return "\n" + visible_line(fold.line) + "\n";
  }
  std::string operator()(const block::FoldEnd&) const { return {}; }
  [[nodiscard]] std::string paragraphs_of(const block::Rows& rows) const {
    std::string text;
    for (const auto& paragraph : rows.paragraphs) {
      text += coloured(visible_line(paragraph.word), paragraph.colour, page.colour) +
              visible_lines(paragraph.text);
    }
    return text;
  }
};

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

std::string render_terminal(const Blocks& blocks, const Page& page) {
  std::string text;
  for (const Block& block : blocks) {
    text += std::visit(OnTerminal{page}, block);
  }
  return text;
}

std::string render_markdown(const Blocks& blocks) {
  std::string text;
  for (const Block& block : blocks) {
    text += std::visit(InMarkdown{}, block);
  }
  return text;
}

std::string render(const Document& document, const Page& page) {
  switch (page.format) {
    case OutputFormat::json:
      return render_json(document.object());
    case OutputFormat::json_lines:
      return json_lines(document.records());
    case OutputFormat::csv:
      return render_csv(document.records());
    case OutputFormat::markdown:
      return render_markdown(document.for_people());
    case OutputFormat::table:
      break;
  }
  return render_terminal(document.for_people(), page);
}

std::string render_csv(const Table& records) { return draw_csv(text_for_programs(records)); }

std::string render_json(const Json& object) { return json_text(object); }

}  // namespace fatune
