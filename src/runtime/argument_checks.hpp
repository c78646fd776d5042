// What a caller may pass. Each gives why it is wrong; null: it is right.
#pragma once

#include "attention.hpp"

namespace fatune_attention::detail {

inline constexpr std::int64_t kMostSeqLen = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostHeadDim = 1024;
inline constexpr std::int64_t kMostHeads = 65535;  ///< and sequences of a batch
inline constexpr float kMostScale = 1e6F;

const char* fault_of(const Problem& problem);

/// Their addresses aside. Precondition: nothing is wrong with the problem.
const char* fault_of_strides(const Problem& problem, const Tensors& tensors);

/// Precondition: nothing is wrong with the problem.
const char* fault_of_addresses(const Problem& problem, const Tensors& tensors);

/// The problem, the strides and the addresses.
const char* fault_of(const Problem& problem, const Tensors& tensors);

}  // namespace fatune_attention::detail
