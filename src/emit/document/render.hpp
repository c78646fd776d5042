#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emit/document/document.hpp"
#include "emit/document/page.hpp"

namespace fatune {

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
