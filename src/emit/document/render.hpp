#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/output_format.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// The page that a report is printed on. A format alone converts to a page whose tables are as wide
/// as they need.
struct Page {
  // NOLINTNEXTLINE(google-explicit-constructor)
  Page(OutputFormat of_format, std::size_t most_columns = 0, bool with_colour = false)
      : format(of_format), columns(most_columns), colour(with_colour) {}

  OutputFormat format;
  std::size_t columns;  ///< the most columns of a table's line (docs/tables.md); 0: no limit
  bool colour;          ///< ANSI colours; on a terminal only
};

/// Renders a document in the page's format. The text ends with a line break.
[[nodiscard]] std::string render(const Document& document, const Page& page);

/// Renderers for one format each.
[[nodiscard]] std::string render_terminal(const Blocks& blocks, const Page& page);
[[nodiscard]] std::string render_markdown(const Blocks& blocks);
/// The parts that all HTML pages have in common.
struct PageParts {
  std::string_view style;    ///< CSS
  std::string_view library;  ///< third-party JavaScript, with its licence
  std::string_view script;   ///< fatune's own JavaScript
};
struct PageHead {
  std::string title;
  std::string lead;                     ///< one paragraph below the title
  std::vector<std::string> warnings{};  ///< above everything else on the page
};
/// Renders a page that refers to nothing outside of it and runs only the scripts of `parts`.
[[nodiscard]] std::string render_html(const Blocks& blocks, const PageHead& head,
                                      const PageParts& parts);
[[nodiscard]] std::string render_csv(const Table& records);
[[nodiscard]] std::string render_json(const Json& object);

}  // namespace fatune
