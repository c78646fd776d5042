#pragma once

#include <cstddef>
#include <memory>

#include "core/search_kind.hpp"
#include "search/search_limits.hpp"

namespace fatune {

/// As many configurations of a problem are all tried, unless another search is asked for: with 16
/// cores they are compiled in about two minutes (docs/search.md).
inline constexpr std::size_t kMostExhaustive = 2000;

/// As many configurations of a problem are all tried by an automatic search.
[[nodiscard]] inline std::size_t most_exhaustive(const SearchLimits& limits) {
  return limits.max_configs.value_or(kMostExhaustive);
}

/// The search of that kind. An automatic one is that of the model for problems of more
/// configurations than most_exhaustive(), and else exhaustive; where XGBoost is missing, a local
/// search stands in for the model. `greatest`: the configurations of the problem that has most.
/// Error(usage) for the model without XGBoost.
[[nodiscard]] std::shared_ptr<const CandidateSearch> choose_search(SearchKind kind,
                                                                   const SearchLimits& limits,
                                                                   std::size_t greatest);

/// Whether what choose_search() gives for the same arguments learns from outcomes.
[[nodiscard]] bool learns(SearchKind kind, const SearchLimits& limits, std::size_t greatest);

}  // namespace fatune
