#include "race/standings.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/elimination_text.hpp"
#include "core/statistics.hpp"
#include "race/precision.hpp"

namespace fatune {
namespace {

const Series& ranked_series(const RacedCandidate& candidate) {
  return candidate.finals.empty() ? candidate.race : candidate.finals;
}

bool is_placed(const RacedCandidate& candidate) {
  return !candidate.withdrawn && !ranked_series(candidate).empty();
}

// The order: finalists, those eliminated in the finals, the other contenders, the others
// eliminated.
auto sort_key(const RacedCandidate& candidate) {
  return std::tuple(candidate.finals.empty(), candidate.eliminated_in_round.has_value(),
                    ranked_series(candidate).median_us());
}

/// A candidate that has samples, and its standing.
struct Placed {
  const RacedCandidate* candidate;
  Standing* standing;
};

bool tied(const RacedCandidate& candidate, const RacedCandidate& fastest,
          const RacePolicy& policy) {
  if (candidate.eliminated_in_round && !fastest.eliminated_in_round) {
    return false;
  }
  const auto interval = ratio_interval(candidate, fastest, policy.confidence);
  return interval ? interval->low <= 1.0
                  : ranked_series(candidate).median_us() <=
                        ranked_series(fastest).median_us() * (1.0 + policy.admission_margin);
}

std::vector<std::string> warnings_of(const RacedCandidate& candidate) {
  std::vector<std::string> warnings;
  if (candidate.kept_throttled > 0) {
    warnings.push_back(fmt::format("{} samples were taken while the GPU throttled its clocks",
                                   candidate.kept_throttled));
  }
  if (candidate.kept_off_rounds > 0) {
    warnings.push_back(
        fmt::format("{} samples are of rounds in which the GPU was unusually fast or slow",
                    candidate.kept_off_rounds));
  }
  return warnings;
}

std::string stop_text(const RacedCandidate& candidate, StopReason stopped_because) {
  return candidate.eliminated_in_round ? elimination_text(*candidate.eliminated_in_round)
                                       : std::string(stop_reason_name(stopped_because));
}

Standing describe(const RacedCandidate& candidate, const RacePolicy& policy,
                  StopReason stopped_because) {
  Standing result;
  result.candidate = candidate.id;
  result.eliminated_in_round = candidate.eliminated_in_round;
  result.warnings = warnings_of(candidate);
  if (is_placed(candidate)) {
    result.finalist = !candidate.finals.empty();
    result.timing = summarise(ranked_series(candidate).taken_us(), policy.confidence);
    result.timing.stopped_because = stop_text(candidate, stopped_because);
  }
  return result;
}

void number(std::vector<Placed> order, const RacePolicy& policy) {
  std::ranges::stable_sort(order, [](const Placed& a, const Placed& b) {
    return sort_key(*a.candidate) < sort_key(*b.candidate);
  });
  int place = 0;
  int group = 0;
  const RacedCandidate* fastest = nullptr;
  for (const auto& [candidate, standing] : order) {
    if (place > 0) {
      standing->to_fastest =
          ratio_interval(*candidate, *order.front().candidate, policy.confidence);
    }
    if (fastest == nullptr || !tied(*candidate, *fastest, policy)) {
      fastest = candidate;
      ++group;
    }
    standing->place = ++place;
    standing->tie_group = group;
  }
}

}  // namespace

std::vector<Standing> make_standings(const CandidateList<RacedCandidate>& candidates,
                                     const RacePolicy& policy, StopReason stopped_because) {
  std::vector<Standing> standings;
  standings.reserve(candidates.size());
  std::vector<Placed> placed;
  for (const RacedCandidate& candidate : candidates) {
    Standing& standing = standings.emplace_back(describe(candidate, policy, stopped_because));
    if (is_placed(candidate)) {
      placed.push_back({&candidate, &standing});
    }
  }
  number(std::move(placed), policy);
  return standings;
}

}  // namespace fatune
