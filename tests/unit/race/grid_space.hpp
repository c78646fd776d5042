#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/outcome.hpp"
#include "race/candidate_source.hpp"

namespace fatune {

inline Outcome measured_us(double us) {
  Measured measured;
  measured.timing.median_us = us;
  return measured;
}

/// `count` configurations of a family with two parameters: {0, 0}, {0, 1}, ..., {0, 9}, {1, 0}, ...
/// The guess for the first is 1 us, and each further one is 1 us more.
inline SearchSpace grid_space(std::size_t count) {
  SearchSpace space;
  for (std::size_t i = 0; i < count; ++i) {
    const auto tens = static_cast<ParamValue>(i / 10);
    const auto ones = static_cast<ParamValue>(i % 10);
    space.points.push_back({{"grid", {tens, ones}}, {}, false, static_cast<double>(i + 1)});
  }
  return space;
}

/// The values of each proposal as a text, such as "34" for {3, 4}.
inline std::vector<std::string> names_of(const std::vector<Proposal>& proposals) {
  std::vector<std::string> names;
  for (const Proposal& proposal : proposals) {
    std::string& name = names.emplace_back();
    for (const ParamValue value : proposal.config.values) {
      name += std::to_string(value);
    }
  }
  return names;
}

}  // namespace fatune
