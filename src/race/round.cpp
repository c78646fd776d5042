#include "race/round.hpp"

#include <algorithm>
#include <utility>

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

std::optional<CandidateId> Round::next() const {
  return queue_.empty() ? std::nullopt : std::optional(queue_.front().candidate);
}

std::optional<CandidateId> Round::after_next() const {
  return queue_.size() < 2 ? std::nullopt : std::optional(queue_[1].candidate);
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

}  // namespace fatune
