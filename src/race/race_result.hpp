#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "core/statistics.hpp"
#include "core/stop_reason.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {

/// The result of one candidate.
struct Standing {
  CandidateId candidate{};
  /// The samples of a finalist are those of the finals alone. A candidate that was eliminated at
  /// its admission, or not yet sampled, has its admission sample. No samples: it was withdrawn, or
  /// the caller stopped before its first sample.
  Timing timing;
  /// The part's share of the problem's work, if the samples are of the part. Their times are then
  /// scaled to the whole problem, by the ratio of the fastest candidate that was timed on both. 0:
  /// the samples are of the whole problem.
  double part_share = 0.0;
  int place = 0;      ///< 1 is the fastest; 0: no samples
  int tie_group = 0;  ///< members of a group cannot be told apart from its first; from 1
  /// The interval of the median ratio of its time to the fastest candidate's, paired by round.
  /// Absent: it is the fastest, or they share too few rounds.
  std::optional<MedianInterval> to_fastest;
  bool finalist = false;
  /// 0: at its admission. Rounds of the finals continue the count of the race.
  std::optional<int> eliminated_in_round;
  std::vector<std::string> warnings;
};

struct RaceResult {
  std::vector<Standing> standings;  ///< ordered by admission
  int rounds = 0;                   ///< accepted rounds
  int part_rounds = 0;              ///< accepted rounds on the part of the problem
  int final_rounds = 0;
  std::int64_t samples_taken = 0;    ///< including those retaken
  std::int64_t samples_retaken = 0;  ///< discarded: throttled, or in a round that was off
  double drift_percent = 0.0;        ///< the sentinel's drift (round_course.hpp)
  std::optional<CandidateId> sentinel;
  double elapsed_s = 0.0;  ///< the time last passed to Race::next()
  StopReason stopped_because = StopReason::not_yet;
  std::vector<std::string> warnings;
};

}  // namespace fatune
