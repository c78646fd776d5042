#pragma once

#include <string_view>

namespace fatune {

/// Selects the configurations of a problem that are tried (docs/search.md).
enum class SearchKind {
  automatic,   ///< all of a small space; else as model, until more is unlikely to help
  exhaustive,  ///< all
  random,
  local,  ///< the neighbours of the fastest one, repeatedly
  model,  ///< configurations that a model, which learns from the measurements, predicts to be fast
};

/// "auto", "exhaustive", "random", "local", "model"
[[nodiscard]] std::string_view search_name(SearchKind kind);
/// Throws Error(usage) for any other text.
[[nodiscard]] SearchKind parse_search(std::string_view text);

}  // namespace fatune
