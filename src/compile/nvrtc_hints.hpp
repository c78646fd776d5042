#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// Returns NVRTC's log. Each error that comes from the lack of a standard library gets a hint at
/// the end of its line: what is not there, and what to write instead.
[[nodiscard]] std::string with_hints(std::string_view log);

}  // namespace fatune
