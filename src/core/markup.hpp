#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// Escapes `text`, which may have any bytes, for HTML and XML, between tags or in a quoted
/// attribute: visible_text() with & < > " ' escaped.
[[nodiscard]] std::string markup(std::string_view text);

}  // namespace fatune
