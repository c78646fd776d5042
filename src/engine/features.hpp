#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "core/config.hpp"
#include "core/kernel_code.hpp"
#include "engine/work_estimate.hpp"
#include "plan/family_set.hpp"

// The features that a model of times learns from (search/candidate_source.hpp).
namespace fatune {

inline constexpr float kNoFeature = std::numeric_limits<float>::quiet_NaN();
inline constexpr std::size_t kWorkFeatures = 13;

/// The values of all families' parameters, in the families' order; kNoFeature for other families.
[[nodiscard]] std::vector<float> parameter_features(const FamilySet& families,
                                                    const Config& config);
/// The features of the launch and of the terms of the estimate: kWorkFeatures numbers.
[[nodiscard]] std::vector<float> work_features(const Guess& guess, const LaunchGeometry& geometry);

}  // namespace fatune
