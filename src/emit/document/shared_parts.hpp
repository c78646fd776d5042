#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fatune {

/// Configurations whose common parts are stated once.
struct SharedParts {
  std::string common;  ///< "(FP16, 128, ...): async+...+opt_softmax"; or a whole configuration
  std::vector<std::string> rest;  ///< what each text has left: "64, 32, 4): buffer"; "-": nothing
};

/// Splits short forms, "(a, b, c): flag+flag" with flags that stand for themselves, into what they
/// have in common and the rest. The common part has the first values of the tuples, as far as they
/// are equal, and the flags that all have. Texts that are not short forms ("-") stay as they are.
/// Nothing if nothing is common.
[[nodiscard]] std::optional<SharedParts> share_parts(const std::vector<std::string>& texts);

}  // namespace fatune
