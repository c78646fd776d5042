#pragma once

#include <optional>
#include <string>

#include "core/outcome.hpp"
#include "emulation/small_emulation.hpp"

namespace fatune {

/// The verdict of emulation on one configuration.
struct EmulationVerdict {
  Verification verification;  ///< has no inputs if it could not be emulated
  /// WrongResult or Flagged. Empty: it is right, or could not be emulated.
  std::optional<Outcome> failure;
  std::string not_covered;  ///< the reason why it could not be emulated; empty: it was
  std::optional<CountedSamples> work = std::nullopt;  ///< a right kernel's work; absent: unknown
};

}  // namespace fatune
