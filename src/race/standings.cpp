#include "race/race_state.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/measure_policy.hpp"
#include "core/ranges.hpp"
#include "core/statistics.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {
namespace {

bool is_placed(const RacedCandidate& candidate) {
  return !candidate.withdrawn && candidate.has_samples();
}

// The order of places: finalists, candidates eliminated in the finals, other contenders, other
// eliminated candidates. Of the last two, those timed on the whole problem come first.
auto sort_key(const RacedCandidate& candidate) {
  return std::tuple(candidate.finals.empty(), candidate.eliminated_in_round.has_value(),
                    candidate.is_of_part(), candidate.ranked().median_us());
}

/// A candidate that has samples, and its standing.
struct Placed {
  const RacedCandidate* candidate;
  Standing* standing;
};

bool tied(const Placed& placed, const Placed& fastest, const RacePolicy& policy) {
  if (placed.candidate->eliminated_in_round && !fastest.candidate->eliminated_in_round) {
    return false;
  }
  const auto interval = ratio_interval(*placed.candidate, *fastest.candidate, policy.confidence);
  return interval ? interval->low <= 1.0
                  : placed.standing->timing.median_us <=
                        fastest.standing->timing.median_us * (1.0 + policy.admission_margin);
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
                                       : std::string(enum_name(stopped_because));
}

/// The samples of the series in microseconds, multiplied by `scale`.
std::vector<double> scaled(const Series& series, double scale) {
  return mapped(series.taken_us(), [=](double us) { return us * scale; });
}

/// The factor by which the whole problem takes longer than the part: the ratio measured with the
/// fastest candidate that was timed on both, else the inverse of the part's share of the work.
double part_scale(const CandidateList<RacedCandidate>& candidates, const RacePolicy& policy) {
  const RacedCandidate* fastest = nullptr;
  for (const RacedCandidate& candidate : candidates) {
    const bool on_both = is_placed(candidate) && !candidate.part.empty() && !candidate.is_of_part();
    if (on_both && (fastest == nullptr || sort_key(candidate) < sort_key(*fastest))) {
      fastest = &candidate;
    }
  }
  return fastest != nullptr ? fastest->ranked().median_us() / fastest->part.median_us()
                            : 1.0 / policy.part_share.value_or(1.0);
}

Standing describe(const RacedCandidate& candidate, const RacePolicy& policy, double scale,
                  StopReason stopped_because) {
  Standing result;
  result.candidate = candidate.id;
  result.eliminated_in_round = candidate.eliminated_in_round;
  result.warnings = warnings_of(candidate);
  if (is_placed(candidate)) {
    result.finalist = !candidate.finals.empty();
    result.part_share = candidate.is_of_part() ? policy.part_share.value_or(0.0) : 0.0;
    result.timing = summarise(scaled(candidate.ranked(), result.part_share > 0.0 ? scale : 1.0),
                              policy.confidence);
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
  const Placed* fastest = nullptr;
  for (const Placed& placed : order) {
    if (place > 0) {
      placed.standing->to_fastest =
          ratio_interval(*placed.candidate, *order.front().candidate, policy.confidence);
    }
    if (fastest == nullptr || !tied(placed, *fastest, policy)) {
      fastest = &placed;
      ++group;
    }
    placed.standing->place = ++place;
    placed.standing->tie_group = group;
  }
}

}  // namespace

std::vector<Standing> make_standings(const CandidateList<RacedCandidate>& candidates,
                                     const RacePolicy& policy, StopReason stopped_because) {
  std::vector<Standing> standings;
  standings.reserve(candidates.size());
  const double scale = part_scale(candidates, policy);
  std::vector<Placed> placed;
  for (const RacedCandidate& candidate : candidates) {
    Standing& standing =
        standings.emplace_back(describe(candidate, policy, scale, stopped_because));
    if (is_placed(candidate)) {
      placed.push_back({&candidate, &standing});
    }
  }
  number(std::move(placed), policy);
  return standings;
}

}  // namespace fatune
