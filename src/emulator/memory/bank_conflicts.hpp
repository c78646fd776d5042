#pragma once

#include <array>
#include <cstdint>

#include "emulator/execution.hpp"
#include "emulator/memory/memory_access.hpp"

namespace fatune::emulate {

/// The passes that shared memory needs for accesses of a warp, of 4, 8 or 16 bytes each. Lanes are
/// served in parts of 128 bytes (32, 16 or 8 lanes). A part takes as many passes as the busiest
/// bank has different words to deliver. Narrower accesses count as 4 bytes.
[[nodiscard]] std::uint32_t shared_wavefronts(const std::array<std::uint64_t, kLanes>& addresses,
                                              Mask mask, std::uint32_t bytes);
/// The number of wavefronts without conflicts: one for each part that has an active lane.
[[nodiscard]] std::uint32_t ideal_wavefronts(Mask mask, std::uint32_t bytes);
inline constexpr std::uint32_t kSectorBytes = 32;  ///< size of a sector of global memory
/// The number of different sectors that the accesses touch.
[[nodiscard]] std::uint32_t global_sectors(const std::array<std::uint64_t, kLanes>& addresses,
                                           Mask mask, std::uint32_t bytes);

/// Adds an access to the instruction's counts.
void count_access(const Step& step, Space space, const std::array<std::uint64_t, kLanes>& addresses,
                  Mask mask, std::uint32_t bytes);

}  // namespace fatune::emulate
