#pragma once

#include <string_view>

namespace fatune {

[[nodiscard]] std::string_view version();  ///< "0.1.0"

}  // namespace fatune
