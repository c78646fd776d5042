// The range that was tuned: whether any measured time says something about a problem.
#pragma once

#include "choose.hpp"

namespace fatune_attention::detail {

/// Says how a problem differs from all rows that could speak for it: those of the GPU's
/// architecture and of the problem's kind. Each of the numbers that kNumbers of tuned_range.cpp
/// lists must be in a bucket between the least and the greatest of these rows, and `step`, which
/// chose the configuration, must have found a row. Empty for Step::refused, which has a reason of
/// its own.
Untuned untuned(const Table& table, const Wanted& wanted, const TunedGpu& gpu, Step step);

}  // namespace fatune_attention::detail
