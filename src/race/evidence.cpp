#include "race/evidence.hpp"

#include <numeric>

namespace fatune {

void LosingEvidence::add(bool lost) {
  for (std::size_t i = 0; i < stakes_.size(); ++i) {
    stakes_[i] *= lost ? 1.0 + kBoldness[i] : 1.0 - kBoldness[i];
  }
}

double LosingEvidence::stake() const {
  return std::accumulate(stakes_.begin(), stakes_.end(), 0.0) / static_cast<double>(stakes_.size());
}

}  // namespace fatune
