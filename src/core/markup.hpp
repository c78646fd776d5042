#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// `text` of any bytes as it stands in HTML and XML, between tags or in a quoted attribute:
/// visible_text() with & < > " ' escaped.
[[nodiscard]] std::string markup(std::string_view text);

}  // namespace fatune
