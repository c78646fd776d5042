#pragma once

#include <cstddef>
#include <memory>

#include "model/measure_policy.hpp"
#include "race/candidate_source.hpp"

namespace fatune {

/// The most configurations of a problem that are all tried unless another search is requested:
/// about as many as an automatic search tries of more (docs/search.md).
inline constexpr std::size_t kMostExhaustive = 64;

/// The most configurations of a problem that an automatic search tries exhaustively.
[[nodiscard]] inline std::size_t most_exhaustive(const SearchLimits& limits) {
  return limits.max_configs.value_or(kMostExhaustive);
}

/// Returns the search of this kind. An automatic search uses the model for problems with more
/// configurations than most_exhaustive(), and is exhaustive for others. `greatest`: the number of
/// configurations of the largest problem.
[[nodiscard]] std::shared_ptr<const CandidateSearch> choose_search(SearchKind kind,
                                                                   const SearchLimits& limits,
                                                                   std::size_t greatest);

/// Whether the search that choose_search() returns for the same arguments learns from outcomes.
[[nodiscard]] bool learns(SearchKind kind, const SearchLimits& limits, std::size_t greatest);

/// Returns a search that tries `most` of the configurations of a large space: a third were fast on
/// similar problems, and the others are among the most promising of each family by their guessed
/// times, but as different from each other as possible. Guesses may be wrong about a parameter, so
/// that the most promising alone would be much alike. Nothing is learnt from outcomes. A space with
/// no more configurations than the sample, or without any that can run, is tried whole.
[[nodiscard]] std::shared_ptr<const CandidateSearch> promising_sample(std::size_t most);

/// The size of the sample for each of a run's problems that together have `configs` different
/// configurations. A run with more problems tries fewer of each, so that it takes about as long.
[[nodiscard]] std::size_t sample_size(std::size_t configs, std::size_t problems);

}  // namespace fatune
