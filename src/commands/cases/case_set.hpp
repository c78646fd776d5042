#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/option_groups.hpp"
#include "core/config.hpp"
#include "data/file_tree.hpp"
#include "plan/family.hpp"

namespace fatune {

/// A part of a space that is tuned separately.
struct CaseVariant {
  std::string name;
  std::string where;                                        ///< file and pointer, for messages
  std::vector<std::pair<std::string, std::string>> values;  ///< parameters with required values
};

/// configs/cases/<key>.json: variants of a kernel that are compared on several lengths.
struct CaseSet {
  std::string name;  ///< key or path
  std::string file;  ///< its name in messages
  std::string summary;
  std::string family;
  std::string space;
  ProblemOptions problem;  ///< includes the lengths
  std::vector<CaseVariant> variants;
  std::vector<std::string> shown;  ///< parameters and derived quantities
};

/// Loads a case set by its key, or by a path (it has a '/' or ends in .json). Throws Error(usage)
/// for an unknown key, with the known ones, and Error(bad_file) for an invalid file.
[[nodiscard]] CaseSet load_case_set(const FileTree& tree, const std::string& text);

/// Fills in unset options from the case set.
void complete_by(const CaseSet& set, ProblemOptions& problems);

/// Returns the configurations of `all` that belong to the variant. Throws Error(bad_file) if the
/// family lacks a parameter of the variant, or the parameter lacks the value.
[[nodiscard]] std::vector<Config> configs_of(const CaseVariant& variant, const Family& family,
                                             const std::vector<Config>& all);

}  // namespace fatune
