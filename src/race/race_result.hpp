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
  /// A finalist's samples are those of the finals alone. One that was eliminated at its admission,
  /// or not yet sampled, has its admission sample. No samples: it was withdrawn, or the caller
  /// stopped before its first.
  Timing timing;
  /// The samples are of the part of the problem, of which this is the share. They are scaled to the
  /// whole, as the fastest one's are. 0: they are of the whole.
  double part_share = 0.0;
  int place = 0;      ///< 1 is the fastest; 0: no samples
  int tie_group = 0;  ///< those of one group cannot be told apart from its first; from 1
  /// The interval of the median ratio of its time to the fastest one's, in pairs of one round each;
  /// absent: it is the fastest, or they share too few rounds.
  std::optional<MedianInterval> to_fastest;
  bool finalist = false;
  /// 0: at its admission. The rounds of the finals count on from those of the race.
  std::optional<int> eliminated_in_round;
  std::vector<std::string> warnings;
};

struct RaceResult {
  std::vector<Standing> standings;  ///< in the order of admission
  int rounds = 0;                   ///< accepted ones
  int part_rounds = 0;              ///< of them, on the part of the problem
  int final_rounds = 0;
  std::int64_t samples_taken = 0;    ///< retaken ones counted too
  std::int64_t samples_retaken = 0;  ///< thrown away: throttled, or in a round that was off
  double drift_percent = 0.0;        ///< of the sentinel (sentinel.hpp)
  std::optional<CandidateId> sentinel;
  double elapsed_s = 0.0;  ///< as last told to the race
  StopReason stopped_because = StopReason::not_yet;
  std::vector<std::string> warnings;
};

}  // namespace fatune
