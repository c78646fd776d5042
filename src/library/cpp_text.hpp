#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// A string literal of C++: quotes, backslashes, and bytes that do not print are escaped.
[[nodiscard]] std::string cpp_string(std::string_view text);

}  // namespace fatune
