// Checks of a caller's arguments. Each function returns what is wrong, or null if nothing is.
#pragma once

#include "attention.hpp"

namespace fatune_attention::detail {

inline constexpr std::int64_t kMostSeqLen = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostHeadDim = 1024;
inline constexpr std::int64_t kMostHeads = 65535;  ///< also the limit of batch
inline constexpr float kMostScale = 1e6F;

const char* fault_of(const Problem& problem);

/// Checks the problem and the strides, but not the addresses.
const char* fault_of_shape(const Problem& problem, const Tensors& tensors);

/// Checks the problem, the strides and the addresses.
const char* fault_of(const Problem& problem, const Tensors& tensors);

}  // namespace fatune_attention::detail
