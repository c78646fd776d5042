#pragma once

#include <string>
#include <string_view>

namespace fatune {

[[nodiscard]] std::string_view version();       ///< "0.1.0"
[[nodiscard]] std::string_view version_date();  ///< "2026-11-23"

/// The git commit that was built: "0123456789ab", or "0123456789ab+dirty" with uncommitted changes,
/// or "unknown" outside a git checkout.
[[nodiscard]] std::string_view build_commit();

/// The hexadecimal build ID that the linker gave to this program. It differs for different code,
/// and is the same in every copy of the program. Empty: it was linked without one.
[[nodiscard]] std::string build_identity();

}  // namespace fatune
