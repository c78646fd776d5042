#pragma once

#include <cstddef>

#include "report/report.hpp"
#include "report/winner_check.hpp"

namespace fatune {

struct VerdictPolicy {
  double tolerance_percent = 0.5;  ///< by how much a winner may be slower than the fastest
  double confidence = 0.95;        ///< of the intervals of the medians
  /// Half the width of an interval, in percent, up to which a comparison counts as known, where the
  /// tolerance is less.
  double precision_percent = 0.5;
  std::size_t candidates = 0;  ///< configurations that the problem was measured with
};

/// Fills verdict, doubt, times, fastest and failure of `check` from a problem that was measured
/// again. `winner` is the configuration that `check` names. Neither verdict is given without proof:
/// - beaten: its tie group is not the fastest's, and it is behind by more than the tolerance;
/// - confirmed: it is behind by no more than that, every candidate has an outcome, and the ratio of
///   its time to the fastest one's, or both medians, are known to within the tolerance or
///   precision_percent, whichever is more; of the fastest itself that holds for all that tie with
///   it.
void judge_winner(const ProblemReport& report, const Config& winner, const VerdictPolicy& policy,
                  WinnerCheck& check);

}  // namespace fatune
