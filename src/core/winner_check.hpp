#pragma once

#include <optional>
#include <string>

#include "core/problem.hpp"

namespace fatune {

enum class WinnerVerdict {
  confirmed,  ///< nothing is faster beyond doubt and beyond the tolerance
  beaten,     ///< something is
  failed,     ///< it has no time here: it does not compile, crashes, is wrong ...
  unknown,    ///< the run was stopped before it was known
};

/// What became of a winner that was measured again.
struct WinnerCheck {
  Problem problem;
  std::string winner;  ///< short form
  WinnerVerdict verdict = WinnerVerdict::unknown;
  std::optional<double> winner_us;
  std::string fastest;  ///< short form; empty: nothing has a time
  std::optional<double> fastest_us;
  std::string detail;  ///< why it failed; else empty
};

}  // namespace fatune
