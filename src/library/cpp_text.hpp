#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// Makes a C++ string literal. Quotes, backslashes and bytes that do not print are escaped.
[[nodiscard]] std::string cpp_string(std::string_view text);

/// Makes a C++ comment of one line, "// text", which no text can end or continue.
[[nodiscard]] std::string cpp_comment(std::string_view text);

}  // namespace fatune
