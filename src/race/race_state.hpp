#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/candidate_list.hpp"
#include "race/race_policy.hpp"
#include "race/race_result.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {

enum class RacePhase { racing, finals, done };

/// The state of a race without the round under way. Plain data: race_rules.hpp has the
/// rules that read and change it.
struct RaceState {
  RacePolicy policy;
  CandidateList<RacedCandidate> candidates{};
  std::optional<CandidateId> leader{};
  RacePhase phase = RacePhase::racing;
  std::vector<CandidateId> chosen{};  ///< all that entered the finals, eliminated or not
  /// The reason for the end. Until the finals end, the reason for which they began.
  StopReason stopped_because = StopReason::not_yet;
  bool closed = false;
  bool on_part = false;  ///< samples are of the part of the problem; only while racing
  double elapsed_s = 0.0;
  int rounds = 0;       ///< accepted rounds
  int part_rounds = 0;  ///< accepted rounds on the part
  int final_rounds = 0;
  std::vector<std::string> warnings{};
};

/// The candidates that can still win, in the order of admission.
[[nodiscard]] std::vector<CandidateId> contenders(const RaceState& state);
/// Whether the race began on a part of the problem.
[[nodiscard]] bool has_part(const RacePolicy& policy);
/// The contenders without an accepted sample.
[[nodiscard]] std::vector<CandidateId> unsampled(const RaceState& state);
/// The candidates chosen for the finals that have been neither eliminated nor withdrawn.
[[nodiscard]] std::vector<CandidateId> finalists(const RaceState& state);

}  // namespace fatune
