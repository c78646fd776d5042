#pragma once

#include "race/candidate_source.hpp"

namespace fatune {

/// Tries some of the configurations of a large space: a third were fast on similar problems, and
/// the others are among the most promising of each family by their guessed times, but as different
/// from each other as possible. Guesses may be wrong about a parameter, so that the most promising
/// alone would be much alike. Nothing is learnt from outcomes. A space with no more configurations
/// than the sample, or without any that can run, is tried whole.
class PromisingSample : public CandidateSearch {
 public:
  explicit PromisingSample(std::size_t most) : most_(most) {}

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override;
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override {
    return std::min(configs, most_);
  }

 private:
  std::size_t most_;
};

/// The size of the sample for each of a run's problems that together have `configs` different
/// configurations. A run with more problems tries fewer of each, so that it takes about as long.
[[nodiscard]] std::size_t sample_size(std::size_t configs, std::size_t problems);

}  // namespace fatune
