#include "race/race_state.hpp"

namespace fatune {

std::vector<CandidateId> contenders(const RaceState& state) {
  std::vector<CandidateId> ids;
  for (const RacedCandidate& candidate : state.candidates) {
    if (candidate.in_contention()) {
      ids.push_back(candidate.id);
    }
  }
  return ids;
}

bool has_part(const RacePolicy& policy) {
  return policy.part_share.has_value() && policy.strategy == Strategy::race;
}

std::vector<CandidateId> unsampled(const RaceState& state) {
  std::vector<CandidateId> ids = contenders(state);
  std::erase_if(ids, [&](CandidateId id) { return state.candidates.at(id).has_samples(); });
  return ids;
}

std::vector<CandidateId> finalists(const RaceState& state) {
  std::vector<CandidateId> ids = state.chosen;
  std::erase_if(ids, [&](CandidateId id) { return !state.candidates.at(id).in_contention(); });
  return ids;
}

}  // namespace fatune
