#pragma once

#include <string_view>

namespace fatune {

/// Which configurations of a problem are tried (docs/search.md).
enum class SearchKind {
  automatic,   ///< all of a small space, else those that a model proposes
  exhaustive,  ///< all
  random,
  local,  ///< the neighbours of the fastest one, again and again
  model,  ///< what a model, which learns from what was measured, takes for fast
};

/// "auto", "exhaustive", "random", "local", "model"
[[nodiscard]] std::string_view search_name(SearchKind kind);
/// Error(usage) for anything else.
[[nodiscard]] SearchKind parse_search(std::string_view text);

}  // namespace fatune
