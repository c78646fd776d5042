#include "race/round_course.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/ranges.hpp"
#include "model/statistics.hpp"

namespace fatune {

Round::Round(std::vector<CandidateId> members, int most_sample_retakes, std::mt19937_64& random)
    : members_(std::move(members)), most_sample_retakes_(most_sample_retakes) {
  line_up(random);
}

void Round::line_up(std::mt19937_64& random) {
  std::shuffle(members_.begin(), members_.end(), random);
  samples_.clear();
  queue_.clear();
  for (const CandidateId member : members_) {
    queue_.push_back({member, 0});
  }
}

void Round::restart(std::mt19937_64& random) {
  line_up(random);
  ++times_restarted_;
}

bool Round::record(double time_us, bool throttled) {
  const Waiting taken = queue_.front();
  queue_.pop_front();
  if (throttled && taken.retakes < most_sample_retakes_) {
    queue_.push_back({taken.candidate, taken.retakes + 1});
    return false;
  }
  samples_.push_back({taken.candidate, time_us, throttled});
  return true;
}

void Round::drop(CandidateId member) {
  std::erase(members_, member);
  std::erase_if(queue_, [=](const Waiting& waiting) { return waiting.candidate == member; });
  std::erase_if(samples_, [=](const RoundSample& sample) { return sample.candidate == member; });
}

std::optional<double> Round::time_us_of(CandidateId member) const {
  const auto found = std::ranges::find(samples_, member, &RoundSample::candidate);
  return found == samples_.end() ? std::nullopt : std::optional(found->time_us);
}

namespace {

constexpr std::size_t kWindow = 9;
constexpr std::size_t kLeastKnown = 5;
constexpr std::size_t kLeastEnd = 3;

// Each round has its own seed, which depends on the number of samples so far and not on how often
// Race::next() was called. The step is odd, so that no two rounds share a seed.
constexpr std::uint64_t kSeedStep = 0x9e3779b97f4a7c15;

}  // namespace

bool Sentinel::is_off(double time_us) const {
  if (taken_us_.size() < kLeastKnown) {
    return false;
  }
  const auto window = static_cast<std::ptrdiff_t>(std::min(kWindow, taken_us_.size()));
  const double usual_us = median_of({taken_us_.end() - window, taken_us_.end()});
  return std::abs(time_us / usual_us - 1.0) > tolerance_;
}

double Sentinel::drift_percent() const {
  if (taken_us_.size() < 2 * kLeastEnd) {
    return 0.0;
  }
  const auto end = static_cast<std::ptrdiff_t>(std::max(kLeastEnd, taken_us_.size() / 4));
  const double first_us = median_of({taken_us_.begin(), taken_us_.begin() + end});
  const double last_us = median_of({taken_us_.end() - end, taken_us_.end()});
  return 100.0 * (last_us / first_us - 1.0);
}

void RoundCourse::begin(std::vector<CandidateId> members, const RacePolicy& policy) {
  if (sentinel_ && !is_among(*sentinel_, members)) {
    members.push_back(*sentinel_);
  }
  random_.seed(policy.seed + kSeedStep * static_cast<std::uint64_t>(samples_taken_));
  round_.emplace(std::move(members), policy.most_sample_retakes, random_);
  samples_before_round_ = samples_taken_;
}

void RoundCourse::record(double time_us, bool throttled) {
  ++samples_taken_;
  if (!round_->record(time_us, throttled)) {
    ++samples_retaken_;
  }
}

void RoundCourse::drop(CandidateId candidate, const RacePolicy& policy) {
  if (round_) {
    round_->drop(candidate);
  }
  if (sentinel_ == candidate) {
    forget_sentinel(policy);
  }
}

void RoundCourse::forget_sentinel(const RacePolicy& policy) {
  sentinel_.reset();
  sentinel_samples_ = Sentinel(policy.sentinel_tolerance);
}

bool RoundCourse::is_off() const {
  const auto sentinel_us = sentinel_ ? round_->time_us_of(*sentinel_) : std::nullopt;
  return sentinel_us && sentinel_samples_.is_off(*sentinel_us);
}

void RoundCourse::retake(const std::vector<CandidateId>& losers) {
  ++retaken_rounds_;
  samples_retaken_ += static_cast<std::int64_t>(round_->samples().size());
  for (const CandidateId loser : losers) {
    if (loser != sentinel_) {
      round_->drop(loser);
    }
  }
  round_->restart(random_);
}

void RoundCourse::accept() {
  if (!sentinel_) {
    sentinel_ = std::ranges::min(round_->samples(), {}, &RoundSample::time_us).candidate;
  }
  if (const auto time_us = round_->time_us_of(*sentinel_)) {
    sentinel_samples_.add(*time_us);
  }
}

}  // namespace fatune
