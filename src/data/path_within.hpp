#pragma once

#include <algorithm>
#include <filesystem>

namespace fatune {

/// True if `path` is below `folder`, by their components. Both are absolute and without "..".
[[nodiscard]] inline bool is_within(const std::filesystem::path& path,
                                    const std::filesystem::path& folder) {
  const auto [at_folder, at_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return at_folder == folder.end() && at_path != path.end();
}

}  // namespace fatune
