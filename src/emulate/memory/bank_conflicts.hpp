#pragma once

#include <array>
#include <cstdint>

#include "emulate/execution.hpp"
#include "emulate/memory/memory_access.hpp"

namespace fatune::emulate {

/// Passes that shared memory needs for these accesses of a warp, of 4, 8 or 16 bytes each: lanes go
/// by 128 bytes (32, 16 or 8 of them), and each such part takes as many passes as the bank most
/// asked for has different words to give. Narrower accesses count as 4 bytes.
[[nodiscard]] std::uint32_t shared_wavefronts(const std::array<std::uint64_t, kLanes>& addresses,
                                              Mask mask, std::uint32_t bytes);
/// The number of wavefronts without conflicts: one for each part that has an active lane.
[[nodiscard]] std::uint32_t ideal_wavefronts(Mask mask, std::uint32_t bytes);
inline constexpr std::uint32_t kSectorBytes = 32;  ///< of global memory
/// Different sectors.
[[nodiscard]] std::uint32_t global_sectors(const std::array<std::uint64_t, kLanes>& addresses,
                                           Mask mask, std::uint32_t bytes);

/// Adds an access to the instruction's counts.
void count_access(Execution& x, const Instruction& instruction, Space space,
                  const std::array<std::uint64_t, kLanes>& addresses, Mask mask,
                  std::uint32_t bytes);

}  // namespace fatune::emulate
