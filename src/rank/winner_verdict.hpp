#pragma once

#include <cstddef>

#include "report/report.hpp"
#include "report/winner_check.hpp"

namespace fatune {

struct VerdictPolicy {
  double tolerance_percent = 0.5;  ///< by which a winner may be slower than the fastest
  double confidence = 0.95;        ///< of the intervals of the medians
  /// Half the width of an interval, in percent, up to which a comparison counts as known. A greater
  /// tolerance takes its place.
  double precision_percent = 0.5;
  std::size_t candidates = 0;  ///< number of configurations that were measured on the problem
};

/// Fills verdict, doubt, times, fastest and failure of `check` from a problem that was measured
/// again. `winner` is the configuration that `check` names. Both verdicts need proof:
/// - beaten: its tie group is not the fastest's, and it is behind by more than the tolerance;
/// - confirmed: it is behind by no more than that, every candidate has an outcome, and the ratio of
///   its time to the fastest one's, or both medians, are known to within the tolerance or
///   precision_percent, whichever is more. For the fastest itself, that must hold for all that tie
///   with it.
void judge_winner(const ProblemReport& report, const Config& winner, const VerdictPolicy& policy,
                  WinnerCheck& check);

}  // namespace fatune
