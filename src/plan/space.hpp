#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "plan/config_set.hpp"
#include "plan/expression.hpp"
#include "plan/family.hpp"
#include "plan/reason.hpp"

namespace fatune {

/// A rule of a space: drops a configuration when its expression holds.
struct SpaceRule {
  std::string id;
  Expression drops;
  Choice<Reason> reason;  ///< the first whose condition holds

  /// The facts that the rule needs before it can be applied.
  [[nodiscard]] Needs needs() const;
};

/// The configurations that one file lists, and the rules for them, in order.
struct SpacePart {
  ConfigSet configs;
  std::vector<SpaceRule> rules;
};

/// A search space: the union of its parts.
struct Space {
  std::string key;  ///< "tune", "64,32", or the file's path
  std::string summary;
  std::vector<SpacePart> parts;
};

struct SpaceInfo {
  std::string key;
  std::string summary;
};

/// Chooses the space that the user wants: the option, else the environment's KERNELS, else the
/// family's default. The caller reads the environment. An empty variable counts as absent.
[[nodiscard]] std::string choose_space(const Family& family,
                                       const std::optional<std::string>& option,
                                       const std::optional<std::string>& kernels_variable);

/// True if `text` is a space file's path and not a key.
[[nodiscard]] bool is_space_file(std::string_view text);

/// Reads a space by its key (configs/spaces/<key>.json or kernels/<family>/spaces/<key>.json), by a
/// slice that one of them declares ("64,32"), or by a file's path (it has a '/' or ends in .json).
/// Throws Error(usage) for an unknown key, listing the known ones, and Error(bad_file) for a file
/// that is invalid or of another family.
[[nodiscard]] Space load_space(const FileTree& tree, const Family& family, std::string_view text);

/// True if load_space() finds it for the family. Throws Error(bad_file) for an invalid file.
[[nodiscard]] bool has_space(const FileTree& tree, const Family& family, std::string_view text);

/// Every key that load_space() accepts for the family, slices last.
[[nodiscard]] std::vector<SpaceInfo> list_spaces(const FileTree& tree, const Family& family);

}  // namespace fatune
