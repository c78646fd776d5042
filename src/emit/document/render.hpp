#pragma once

#include <string>

#include "emit/document/document.hpp"
#include "emit/document/page.hpp"

namespace fatune {

/// A document as the page's format prints it; ends with a line break.
[[nodiscard]] std::string render(const Document& document, const Page& page);

/// The formats, each in a file of its own.
[[nodiscard]] std::string render_terminal(const Blocks& blocks, const Page& page);
[[nodiscard]] std::string render_markdown(const Blocks& blocks);
[[nodiscard]] std::string render_csv(const Table& records);
[[nodiscard]] std::string render_json(const Json& object);

}  // namespace fatune
