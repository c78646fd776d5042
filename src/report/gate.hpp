#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/statistics.hpp"

// The results of `sweep --against`, as plain data (docs/gate.md).
namespace fatune {

enum class GateVerdict {
  equal,      ///< the whole interval is within the tolerance, or the machine code is the same
  faster,     ///< by more than the tolerance, beyond doubt
  slower,     ///< by more than the tolerance, beyond doubt
  undecided,  ///< the measurement does not decide
  failed,     ///< the winner has no time in the duel
  no_rival,   ///< the rival has no time, in the duel or at all
};

/// A duel between a problem's winner and an earlier one: both gave a sample in every round.
struct GateCheck {
  Problem problem;
  std::string winner;  ///< short form; empty: nothing was ranked
  std::string rival;   ///< short form, with the version of its sources; empty: there is none
  GateVerdict verdict = GateVerdict::undecided;
  std::optional<double> winner_us;  ///< median of the duel
  std::optional<double> rival_us;
  std::optional<MedianInterval> ratio;  ///< of the winner's time to the rival's, round by round
  std::size_t rounds = 0;
  /// Why there is no ratio, or why `winner` is not the first of the ranking; empty: neither.
  std::string why;
};

struct GateReport {
  std::string against;  ///< the file, the sources, or both, as the user named them
  double tolerance_percent = 0.0;
  std::vector<GateCheck> checks;
};

/// Whether a winner is slower than its rival by more than the tolerance, or fails where the rival
/// does not.
[[nodiscard]] bool is_worse(const GateReport& report);

}  // namespace fatune
