#include "engine/features.hpp"

#include <algorithm>

namespace fatune {

std::vector<float> parameter_features(const FamilySet& families, const Config& config) {
  std::vector<float> features;
  for (const Family& family : families.all()) {
    for (std::size_t i = 0; i < family.parameters.size(); ++i) {
      features.push_back(family.name == config.family ? static_cast<float>(config.values.at(i))
                                                      : kNoFeature);
    }
  }
  return features;
}

std::vector<float> work_features(const Guess& guess, const LaunchGeometry& geometry) {
  std::vector<float> features{
      static_cast<float>(block_count(geometry)), static_cast<float>(thread_count(geometry)),
      static_cast<float>(geometry.dynamic_smem_bytes), static_cast<float>(guess.blocks_per_sm),
      static_cast<float>(guess.estimate.estimate_us)};
  for (const EstimateTerm& term : guess.estimate.terms) {
    features.push_back(static_cast<float>(term.us));
  }
  features.resize(kWorkFeatures, kNoFeature);
  return features;
}

}  // namespace fatune
