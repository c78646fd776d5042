#pragma once

#include <string>
#include <string_view>

namespace fatune {

[[nodiscard]] std::string_view version();       ///< "0.1.0"
[[nodiscard]] std::string_view version_date();  ///< "2026-11-23"

/// The git commit that was built: "0123456789ab", or "0123456789ab+dirty" with uncommitted changes,
/// or "unknown" outside a git checkout.
[[nodiscard]] std::string_view build_commit();

/// The facts for a bug report, one per line: the version, commit, build type, NVRTC, driver.
[[nodiscard]] std::string version_report();

}  // namespace fatune
