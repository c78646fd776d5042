#include "trial_rounds.hpp"

#include <algorithm>
#include <cmath>

namespace fatune_attention::detail {
namespace {

/// A candidate is left out if it is so much slower than the fastest after one round that counts;
/// after n rounds, if it is so much / n slower: one time alone says little.
constexpr double kFarBehind = 0.1;
/// Candidate 0 wins unless another one is faster by more than this.
constexpr double kUncertain = 0.01;

/// The median of the first `count` values, which it sorts.
double median_of(double* values, int count) {
  std::sort(values, values + count);
  return 0.5 * (values[count / 2] + values[(count - 1) / 2]);
}

}  // namespace

TrialRounds::TrialRounds(int candidates) : candidates_(candidates) {
  std::fill_n(is_left_.begin(), candidates, true);
}

int TrialRounds::left() const {
  return static_cast<int>(std::count(is_left_.begin(), is_left_.end(), true));
}

int TrialRounds::next() const {
  // Each round begins with another candidate.
  const int begin = round_ % candidates_;
  int passed = 0;
  for (int i = 0; i < candidates_; ++i) {
    const int candidate = (begin + i) % candidates_;
    if (is_left_[index(candidate)] && passed++ == launched_) {
      return candidate;
    }
  }
  return -1;
}

/// Of each candidate that is left, the median over rounds of its time relative to the geometric
/// mean of their times.
TrialRounds::Times TrialRounds::scores() const {
  Times scores{};
  std::array<double, kRounds> means{};
  for (int round = 1; round < round_; ++round) {
    double logs = 0.0;
    for (int i = 0; i < candidates_; ++i) {
      logs += is_left_[index(i)] ? std::log(times_[index(round)][index(i)]) : 0.0;
    }
    means[index(round)] = std::exp(logs / left());
  }
  for (int i = 0; i < candidates_; ++i) {
    std::array<double, kRounds> ratios{};
    for (int round = 1; round < round_; ++round) {
      ratios[index(round - 1)] = times_[index(round)][index(i)] / means[index(round)];
    }
    scores[index(i)] = round_ > 1 ? median_of(ratios.data(), round_ - 1) : 1.0;
  }
  return scores;
}

void TrialRounds::end_round() {
  ++round_;
  launched_ = 0;
  if (round_ == 1) {
    return;
  }
  const Times all = scores();
  const double limit = all[index(fastest())] * (1.0 + kFarBehind / (round_ - 1));
  for (int i = 0; i < candidates_; ++i) {
    is_left_[index(i)] = is_left_[index(i)] && all[index(i)] <= limit;
  }
}

int TrialRounds::fastest() const {
  const Times all = scores();
  int best = -1;
  for (int i = 0; i < candidates_; ++i) {
    if (is_left_[index(i)] && (best < 0 || all[index(i)] < all[index(best)])) {
      best = i;
    }
  }
  const bool prefers_first = is_left_[0] && all[0] * (1.0 - kUncertain) <= all[index(best)];
  return prefers_first ? 0 : best;
}

}  // namespace fatune_attention::detail
