#pragma once

#include <string>
#include <vector>

#include "data/file_tree.hpp"
#include "data/json_file.hpp"
#include "plan/family.hpp"
#include "plan/space.hpp"

namespace fatune {

/// A space as its file declares it, before a slice is chosen.
struct SpaceFile {
  std::string family;
  Space space;
  std::vector<std::size_t> slices;  ///< parameter indices
};

/// The most configurations that a space may list, overlays included.
inline constexpr std::size_t kMostListed = std::size_t{1} << 18;
/// The most combinations of a product. They are not all kept in memory; going through them takes
/// some tens of seconds.
inline constexpr std::size_t kMostCombinations = 10'000'000;

/// Reads a checked space file. `key` becomes the space's name. Throws Error(bad_file) naming the
/// JSON pointer of what is wrong.
[[nodiscard]] SpaceFile read_space_file(const FileTree& tree, const Family& family,
                                        const std::string& key, const JsonFile& file);

/// The path of the file with a space's key, the family's own before a common one; empty if there is
/// none.
[[nodiscard]] std::string space_path(const FileTree& tree, const Family& family,
                                     const std::string& key);

}  // namespace fatune
