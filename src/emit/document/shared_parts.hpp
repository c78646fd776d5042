#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fatune {

/// Configurations of which what all have in common is said once.
struct SharedParts {
  std::string common;  ///< "(FP16, 128, ...): async+...+opt_softmax"; or a whole configuration
  std::vector<std::string> rest;  ///< of each, in order: "64, 32, 4): buffer"; "-": nothing
};

/// `texts`: short forms, "(a, b, c): flag+flag", where the flags are words of which each says its
/// own. Common are the first values of the tuples, and the flags that all have. Others than short
/// forms
/// ("-") are left as they are. Nothing when there is nothing in common.
[[nodiscard]] std::optional<SharedParts> share_parts(const std::vector<std::string>& texts);

}  // namespace fatune
