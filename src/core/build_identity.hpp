#pragma once

#include <string>

namespace fatune {

/// The hexadecimal build ID that the linker gave to this program. It differs for different code,
/// and is the same in every copy of the program. Empty: it was linked without one.
[[nodiscard]] std::string build_identity();

}  // namespace fatune
