#pragma once

#include "engine/candidate_source.hpp"

namespace fatune {

/// Tries all configurations of the plan, and those that are audited: first those that cannot run,
/// in the plan's order, then by their guessed time.
class CompleteSearch : public CandidateSearch {
 public:
  [[nodiscard]] std::string name() const override { return {}; }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(const ProblemPlan& plan,
                                                       const GuessUs& guess) const override;
};

}  // namespace fatune
