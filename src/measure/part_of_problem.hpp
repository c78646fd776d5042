#pragma once

#include <optional>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"

namespace fatune {

/// The part of the problem on which the early rounds of a race are cheap and still tell
/// configurations apart: its first batches, as a problem of their own, on which machine code does
/// not depend. The fewest that take half a millisecond at the device's peak, fill the device six
/// times, and leave the last wave of blocks about as full as the whole problem does. Nothing where
/// the whole takes less than 1.5 ms at the peak, where that would be more than half of the batches,
/// where both together take more than three quarters of the device's memory, and where a mask gives
/// blocks unequal work: how evenly a schedule spreads it depends on how many there are.
[[nodiscard]] std::optional<Problem> part_of(const Problem& problem, const DeviceLimits& limits);

/// The part's share of the problem's work. Precondition: it is part_of() the problem.
[[nodiscard]] double share_of(const Problem& part, const Problem& problem);

}  // namespace fatune
