#include "race/sustained_final.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/statistics.hpp"

namespace fatune {
namespace {

/// A turn takes longer than its launches, because a flush and a check come with each of them: by a
/// quarter at most in launches of a millisecond (an assumption).
constexpr double kMostPerLaunchSecond = 1.25;

std::vector<const Standing*> by_place(const std::vector<Standing>& standings) {
  std::vector<const Standing*> placed;
  for (const Standing& standing : standings) {
    if (standing.place > 0) {
      placed.push_back(&standing);
    }
  }
  std::ranges::sort(placed, {}, &Standing::place);
  return placed;
}

std::vector<CandidateId> near_winner(const std::vector<Standing>& standings,
                                     const RacePolicy& policy) {
  std::vector<CandidateId> near;
  const std::vector<const Standing*> placed = by_place(standings);
  for (const Standing* const standing : placed) {
    const double most_us = placed.front()->timing.median_us * (1.0 + policy.sustained_margin);
    if (standing->timing.median_us <= most_us) {
      near.push_back(standing->candidate);
    }
  }
  return near;
}

/// The number of finalists that the budget has time for.
int affordable(const RacePolicy& policy, double elapsed_s) {
  if (!policy.budget_s) {
    return policy.most_sustained;
  }
  const double left_s = std::max(0.0, *policy.budget_s - elapsed_s);
  const double turns = left_s / (policy.sustain_s * kMostPerLaunchSecond);
  const double most = std::max(turns / 2.0, turns - policy.most_sustained_twice);
  return static_cast<int>(std::min<double>(policy.most_sustained, most));
}

/// A finalist with the times of its turns.
struct Sustained {
  Standing* standing = nullptr;
  std::vector<double> turns_us{};
};

Sustained sustain(const std::vector<SustainedTurn>& turns, Standing& standing) {
  Sustained sustained{&standing, mapped(turns, &SustainedTurn::us)};
  standing.timing.sustained_us = median_of(sustained.turns_us);
  standing.timing.sustained_sm_mhz = median_of(mapped(turns, &SustainedTurn::sm_mhz));
  return sustained;
}

bool tied(const Sustained& one, const Sustained& first) {
  return std::ranges::min(one.turns_us) <= std::ranges::max(first.turns_us);
}

void place_first(std::vector<Sustained>& finalists) {
  std::ranges::stable_sort(finalists, {},
                           [](const Sustained& one) { return one.standing->timing.sustained_us; });
  const Sustained* first = nullptr;
  int place = 0;
  int group = 0;
  for (const Sustained& one : finalists) {
    if (first == nullptr || !tied(one, *first)) {
      first = &one;
      ++group;
    }
    one.standing->place = ++place;
    one.standing->tie_group = group;
  }
}

/// Moves a standing behind the finalists, whose former places are given.
void place_behind(const std::vector<int>& finalists, Standing& standing) {
  standing.place += static_cast<int>(
      std::ranges::count_if(finalists, [&](int place) { return place > standing.place; }));
  standing.tie_group += static_cast<int>(finalists.size());
}

}  // namespace

SustainedFinal::SustainedFinal(const std::vector<Standing>& standings, const RacePolicy& policy,
                               double elapsed_s)
    : most_twice_(static_cast<std::size_t>(policy.most_sustained_twice)),
      order_(near_winner(standings, policy)) {
  const int most = affordable(policy, elapsed_s);
  if (order_.size() < 2) {
    skipped_because_ = fmt::format("no other configuration is within {:.3g} % of the winner",
                                   100.0 * policy.sustained_margin);
  } else if (most < 2) {
    skipped_because_ = "the budget leaves no time for it";
  }
  finalists_ =
      skipped_because_.empty() ? std::min(order_.size(), static_cast<std::size_t>(most)) : 0;
  order_.resize(finalists_);
}

std::optional<CandidateId> SustainedFinal::next() const {
  return taken_ < order_.size() ? std::optional(order_[taken_]) : std::nullopt;
}

void SustainedFinal::record(const SustainedTurn& turn) {
  turns_[next().value()].push_back(turn);
  if (++taken_ == finalists_) {
    choose_second_round();
  }
}

void SustainedFinal::choose_second_round() {
  std::vector<CandidateId> fastest = order_;
  std::ranges::stable_sort(fastest, {}, [&](CandidateId id) { return turns_.at(id).front().us; });
  fastest.resize(std::min(fastest.size(), most_twice_));
  for (std::size_t i = finalists_; i-- > 0;) {
    if (is_among(order_[i], fastest)) {
      order_.push_back(order_[i]);
    }
  }
}

void SustainedFinal::rank(RaceResult& result) const {
  result.not_sustained_because = skipped_because_;
  if (finalists_ == 0 || next()) {
    return;
  }
  std::vector<Sustained> finalists;
  std::vector<Standing*> others;
  for (Standing& standing : result.standings) {
    if (const auto* const turns = value_at(turns_, standing.candidate)) {
      finalists.push_back(sustain(*turns, standing));
    } else if (standing.place > 0) {
      others.push_back(&standing);
    }
  }
  const auto former = mapped(finalists, [](const Sustained& one) { return one.standing->place; });
  for (Standing* const other : others) {
    place_behind(former, *other);
  }
  place_first(finalists);
}

}  // namespace fatune
