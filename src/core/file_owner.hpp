#pragma once

#include <string>

struct stat;

namespace fatune {

/// Returns why somebody other than the user and root may have written the file or folder. Empty:
/// nobody may. A group may write if it is the user's own.
[[nodiscard]] std::string why_foreign(const struct stat& status);

}  // namespace fatune
