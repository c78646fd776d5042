#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "attention/problem.hpp"
#include "core/search_kind.hpp"

namespace fatune {

/// One replay of a search with one seed (docs/search.md).
struct SearchReplay {
  std::optional<std::size_t> tried;  ///< until one was close to the best; absent: none was
  double behind_percent = 0.0;       ///< of the best, what it had found after a part of the space
};

/// A search replayed on the recorded space of a problem.
struct SearchTrial {
  Problem problem;
  SearchKind search = SearchKind::automatic;
  std::size_t configs = 0;            ///< recorded that can run
  std::size_t part = 0;               ///< how many of them SearchReplay::behind_percent is after
  std::vector<SearchReplay> replays;  ///< one a seed
};

/// How close to the best is close, and the part of a space after which searches are compared.
inline constexpr double kCloseToBest = 0.01;
inline constexpr double kPartOfSpace = 0.05;

}  // namespace fatune
