#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// Returns the word closest to `typed`. Empty: none is close.
[[nodiscard]] std::string closest_word(std::string_view typed,
                                       const std::vector<std::string>& words);

}  // namespace fatune
