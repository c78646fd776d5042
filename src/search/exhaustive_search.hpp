#pragma once

#include "search/candidate_source.hpp"

namespace fatune {

/// Tries all configurations of the plan, and those that are audited. Configurations that cannot run
/// come first, in the plan's order; the others are ordered by their guessed times. A limit cuts the
/// list short.
class ExhaustiveSearch : public CandidateSearch {
 public:
  explicit ExhaustiveSearch(std::optional<std::size_t> max_configs = {})
      : max_configs_(max_configs) {}

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override;
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override;

 private:
  std::optional<std::size_t> max_configs_;
};

}  // namespace fatune
