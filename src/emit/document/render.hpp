#pragma once

#include <string>
#include <string_view>

#include "emit/document/document.hpp"
#include "emit/document/page.hpp"

namespace fatune {

/// A document as the page's format prints it; ends with a line break.
[[nodiscard]] std::string render(const Document& document, const Page& page);

/// The formats, each in a file of its own.
[[nodiscard]] std::string render_terminal(const Blocks& blocks, const Page& page);
[[nodiscard]] std::string render_markdown(const Blocks& blocks);
/// The parts of an HTML page that are the same in all of them.
struct PageParts {
  std::string_view style;    ///< CSS
  std::string_view library;  ///< JavaScript of others, with its licence
  std::string_view script;   ///< fatune's own
};
struct PageHead {
  std::string title;
  std::string lead;  ///< one paragraph below it
};
/// One file that refers to nothing outside of it, and runs no script but that of `parts`.
[[nodiscard]] std::string render_html(const Blocks& blocks, const PageHead& head,
                                      const PageParts& parts);
[[nodiscard]] std::string render_csv(const Table& records);
[[nodiscard]] std::string render_json(const Json& object);

}  // namespace fatune
