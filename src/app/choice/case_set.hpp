#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/option_groups.hpp"
#include "core/config.hpp"
#include "data/file_tree.hpp"
#include "plan/family.hpp"

namespace fatune {

/// A part of a space that is tuned by itself.
struct CaseVariant {
  std::string name;
  std::string where;                                        ///< file and pointer, for messages
  std::vector<std::pair<std::string, std::string>> values;  ///< parameters, and what they must be
};

/// configs/cases/<key>.json: variants of a kernel that are compared on several lengths.
struct CaseSet {
  std::string name;  ///< key or path
  std::string file;  ///< how messages call it
  std::string summary;
  std::string family;
  std::string space;
  ProblemOptions problem;  ///< with its lengths
  std::vector<CaseVariant> variants;
  std::vector<std::string> shown;  ///< parameters and derived quantities
};

/// Reads one by its key, or by a path (it has a '/' or ends in .json). Error(usage) for a key that
/// is not there, naming those that are; Error(bad_file) for a file that is wrong.
[[nodiscard]] CaseSet load_case_set(const FileTree& tree, const std::string& text);

/// Fills in from the set what the options leave open.
void complete_by(const CaseSet& set, ProblemOptions& problems);

/// The configurations of `all` that are the variant's. Error(bad_file) when the family has no such
/// parameter, or a parameter no such value.
[[nodiscard]] std::vector<Config> configs_of(const CaseVariant& variant, const Family& family,
                                             const std::vector<Config>& all);

}  // namespace fatune
