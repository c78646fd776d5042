#include "race/round_course.hpp"

#include <algorithm>
#include <utility>

#include "core/is_among.hpp"

namespace fatune {
namespace {

// Each round has its own seed, which depends on the number of samples so far and not on how often
// Race::next() was called. The step is odd, so that no two rounds share a seed.
constexpr std::uint64_t kSeedStep = 0x9e3779b97f4a7c15;

CandidateId fastest_of(const std::vector<RoundSample>& samples) {
  return std::ranges::min_element(
             samples,
             [](const RoundSample& a, const RoundSample& b) { return a.time_us < b.time_us; })
      ->candidate;
}

}  // namespace

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

bool RoundCourse::may_retake(const RacePolicy& policy) const {
  return round_->times_restarted() < policy.most_round_retakes &&
         retaken_rounds_ < policy.most_retaken_rounds;
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
    sentinel_ = fastest_of(round_->samples());
  }
  if (const auto time_us = round_->time_us_of(*sentinel_)) {
    sentinel_samples_.add(*time_us);
  }
}

}  // namespace fatune
