#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/config.hpp"
#include "core/outcome.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// What is known of a configuration that was once tried.
struct RecordedTry {
  Outcome outcome;
  double compile_ms = 0.0;
};
using RecordedTries = std::map<Config, RecordedTry>;

/// A configuration that a search has tried.
struct SimulatedTry {
  Config config;
  std::optional<double> us;  ///< absent: it failed
};

/// When a replay ends.
struct SimulationEnd {
  double us = 0.0;              ///< when one at least as fast was tried,
  std::size_t least_tried = 0;  ///< and at least as many
};

/// Replays a search as a run would carry it out with `jobs` compilers: the first call asks for as
/// much as it does in a run; each compilation takes as long as it once did; when it ends, the
/// search is told the recorded outcome and is asked for as many as there are idle compilers. What
/// was tried, in the order in which the outcomes were known, until `end` or the end of the search.
/// Precondition: `recorded` has all that `source` proposes.
[[nodiscard]] std::vector<SimulatedTry> simulate(CandidateSource& source,
                                                 const RecordedTries& recorded, std::size_t jobs,
                                                 const SimulationEnd& end);

/// How many were tried until one took at most `us`; nothing when none did.
[[nodiscard]] std::optional<std::size_t> tried_until(const std::vector<SimulatedTry>& tries,
                                                     double us);

}  // namespace fatune
