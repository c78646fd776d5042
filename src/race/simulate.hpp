#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "model/config.hpp"
#include "model/outcome.hpp"
#include "race/candidate_source.hpp"

namespace fatune {

/// The recorded result of trying a configuration.
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

/// The conditions that end a replay; both must hold.
struct SimulationEnd {
  double us = 0.0;              ///< a configuration at least as fast was tried
  std::size_t least_tried = 0;  ///< the least number that was tried
};

/// Replays a search as a run with `jobs` compilers would carry it out. The first call asks for as
/// much as in a run. Each compilation takes as long as it was recorded to take. When it ends, the
/// search observes the recorded outcome and is asked for as many configurations as there are idle
/// compilers. Returns what was tried until `end` or the end of the search, in the order in which
/// the outcomes became known. Precondition: `recorded` has all that `source` proposes.
[[nodiscard]] std::vector<SimulatedTry> simulate(CandidateSource& source,
                                                 const RecordedTries& recorded, std::size_t jobs,
                                                 const SimulationEnd& end);

/// How many were tried until one took at most `us`. Returns nothing if none did.
[[nodiscard]] std::optional<std::size_t> tried_until(const std::vector<SimulatedTry>& tries,
                                                     double us);

}  // namespace fatune
