#pragma once

#include <cstdint>
#include <optional>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/tile_schedule.hpp"

namespace fatune {

/// The part of the problem on which the early rounds of a race are cheap and still tell
/// configurations apart. It consists of the first batches, as a separate problem with the same
/// machine code: the fewest batches that take half a millisecond at the device's peak, fill the
/// device six times, and whose part_tail() spans at most 5 %. Empty if the whole takes less than
/// 1.5 ms at the peak, if the part would be more than half of the batches, if both together take
/// more than three quarters of the device's memory, or if a mask gives blocks unequal work. In the
/// last case, how evenly a schedule spreads the work depends on the number of blocks.
[[nodiscard]] std::optional<Problem> part_of(const Problem& problem, const DeviceLimits& limits);

/// The tail of a kernel about which nothing is known. It covers kernels whose blocks keep 128, 192
/// or 256 rows (of 128 values) on an SM at a time, and a kernel that spreads the last wave evenly.
[[nodiscard]] PartTail part_tail(const Problem& part, const Problem& problem,
                                 const DeviceLimits& limits);

/// The tail of a kernel with these numbers of blocks on the part and on the problem. If they are
/// equal, each block computes many tiles, and the tail is `unknown`.
[[nodiscard]] PartTail part_tail(std::int64_t part_blocks, std::int64_t blocks,
                                 std::int64_t blocks_at_a_time, const PartTail& unknown);

/// The part's share of the problem's work. Precondition: `part` is part_of() the problem.
[[nodiscard]] double share_of(const Problem& part, const Problem& problem);

}  // namespace fatune
