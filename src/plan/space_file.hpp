#pragma once

#include <string>
#include <vector>

#include "data/file_tree.hpp"
#include "data/json_file.hpp"
#include "plan/family.hpp"
#include "plan/space.hpp"

namespace fatune {

/// A space as its file says, before one is chosen.
struct SpaceFile {
  std::string family;
  Space space;
  std::vector<std::size_t> slices;  ///< parameter indices
};

/// Most configurations that a space may list, with its overlays.
inline constexpr std::size_t kMostListed = std::size_t{1} << 18;
/// Most combinations of a product, which are not all kept in memory: some tens of seconds to look
/// at.
inline constexpr std::size_t kMostCombinations = 10'000'000;

/// Reads a checked space file. `key` is what the space will be called. Error(bad_file) naming the
/// JSON pointer of what is wrong.
[[nodiscard]] SpaceFile read_space_file(const FileTree& tree, const Family& family,
                                        const std::string& key, const JsonFile& file);

/// The file of a space's key: the family's own before the common ones; empty when there is none.
[[nodiscard]] std::string space_path(const FileTree& tree, const Family& family,
                                     const std::string& key);

}  // namespace fatune
