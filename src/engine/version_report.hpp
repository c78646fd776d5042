#pragma once

#include <string>

namespace fatune {

/// The facts for a bug report, one per line: the version, commit, build type, NVRTC, driver.
[[nodiscard]] std::string version_report();

}  // namespace fatune
