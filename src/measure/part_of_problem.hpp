#pragma once

#include <cstdint>
#include <optional>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/part_tail.hpp"

namespace fatune {

/// The part of the problem on which the early rounds of a race are cheap and still tell
/// configurations apart: its first batches, as a problem of their own, on which machine code does
/// not depend. The fewest that take half a millisecond at the device's peak, fill the device six
/// times, and whose part_tail() spans 5 % at most. Nothing where
/// the whole takes less than 1.5 ms at the peak, where that would be more than half of the batches,
/// where both together take more than three quarters of the device's memory, and where a mask gives
/// blocks unequal work: how evenly a schedule spreads it depends on how many there are.
[[nodiscard]] std::optional<Problem> part_of(const Problem& problem, const DeviceLimits& limits);

/// The tail of a kernel of which nothing is known: of those whose blocks keep 128, 192 or 256 rows
/// (of 128 values) on an SM at a time, and of one that shares out the last wave evenly.
[[nodiscard]] PartTail part_tail(const Problem& part, const Problem& problem,
                                 const DeviceLimits& limits);

/// The tail of a kernel with these numbers of blocks on the part and on the problem. Where they are
/// equal, each block computes many tiles, and the tail is `unknown`.
[[nodiscard]] PartTail part_tail(std::int64_t part_blocks, std::int64_t blocks,
                                 std::int64_t blocks_at_a_time, const PartTail& unknown);

/// The part's share of the problem's work. Precondition: it is part_of() the problem.
[[nodiscard]] double share_of(const Problem& part, const Problem& problem);

}  // namespace fatune
