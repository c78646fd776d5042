#include "emit/document/render.hpp"

#include "emit/document/table_view.hpp"

namespace fatune {

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
