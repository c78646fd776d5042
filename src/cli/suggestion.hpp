#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// The word that `typed` was most likely meant to be; empty when none is close.
[[nodiscard]] std::string closest_word(std::string_view typed,
                                       const std::vector<std::string>& words);

}  // namespace fatune
