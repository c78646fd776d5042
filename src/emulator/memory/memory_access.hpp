#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "emulator/execution.hpp"

// A thread's accesses to memory, with checks. An invalid access is a finding. It reads zeros and
// writes nothing.
namespace fatune::emulate {

enum class Space : std::uint8_t { generic, global, shared, shared_cluster, local, parameter };

// Generic addresses: each space has a window of its own, except device memory, which lies above.
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32U;
inline constexpr std::uint64_t kSharedWindow = 1 * kWindowBytes;
inline constexpr std::uint64_t kLocalWindow = 2 * kWindowBytes;
inline constexpr std::uint64_t kParameterWindow = 3 * kWindowBytes;
/// The space that a generic address is in.
[[nodiscard]] constexpr Space space_of_generic(std::uint64_t address) {
  const std::uint64_t window = address / kWindowBytes * kWindowBytes;
  return window == kSharedWindow      ? Space::shared
         : window == kLocalWindow     ? Space::local
         : window == kParameterWindow ? Space::parameter
                                      : Space::global;
}
/// Shared addresses begin above 0, because the system reserves the first bytes.
inline constexpr std::uint32_t kSharedBase = 1024;
/// An address in shared::cluster is an address in the block's own shared memory, or
/// (rank + 1) << kRankShift plus the address within the block of that rank.
inline constexpr std::uint32_t kRankShift = 24;
constexpr std::uint32_t cluster_address(std::uint32_t rank, std::uint32_t address) {
  return (rank + 1) << kRankShift | address;
}

/// Converts a generic address in the shared window to a shared address. Keeps other addresses.
constexpr std::uint64_t shared_part(std::uint64_t address) {
  return address / kWindowBytes == 1 ? address - kSharedWindow : address;
}

/// An address of shared::cluster: the block's rank, and the address within that block. Any other
/// address has a rank that no block has.
struct ClusterAddress {
  std::uint64_t rank = 0;
  std::uint32_t own = 0;
};
[[nodiscard]] inline ClusterAddress cluster_address_of(const Warp& warp, std::uint64_t address) {
  const std::uint64_t part = shared_part(address);
  const std::uint64_t rank = part >> kRankShift;
  return {rank == 0 ? warp.block : rank - 1,
          static_cast<std::uint32_t>(part) & ((1U << kRankShift) - 1)};
}

/// One access of one lane.
struct Access {
  Space space = Space::generic;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
};

void read_memory(const Actor& by, const Access& access, void* to);
void write_memory(const Actor& by, const Access& access, const void* from);

/// Bytes of a block's shared memory.
struct SharedPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;

  explicit operator bool() const { return block != nullptr; }
  [[nodiscard]] std::uint8_t* data() const { return block->shared.data(offset); }
};

/// Locates shared bytes. If they do not exist, reports it and returns an empty place.
[[nodiscard]] SharedPlace check_shared(const Actor& by, const Access& access);
/// If a write would overwrite an mbarrier, reports it and returns false.
[[nodiscard]] bool keeps_mbarriers(const Actor& by, const SharedPlace& place, std::uint32_t bytes);
/// Locates global bytes. If they do not exist, reports it and returns null.
[[nodiscard]] std::uint8_t* check_global(const Actor& by, const Access& access, bool reads);

/// A use of shared memory: its description in findings, and its kind of access.
struct SharedUse {
  const char* doing;
  AccessKind access;
};
inline constexpr SharedUse kReadsShared{"reads", AccessKind::read};
inline constexpr SharedUse kWritesShared{"writes", AccessKind::write};
inline constexpr SharedUse kInitialisesShared{"initialises an mbarrier at", AccessKind::write};
inline constexpr SharedUse kCopiesToShared{"copies to", AccessKind::async_write};
inline constexpr SharedUse kCopiesFromShared{"copies from", AccessKind::async_read};
inline constexpr SharedUse kMultipliesShared{"multiplies", AccessKind::async_read};

void report_fault(const Actor& by, const SharedFault& fault, const SharedUse& use);
/// Reports the fault if there is one.
inline void report_shared(const Actor& by, const std::optional<SharedFault>& fault,
                          const SharedUse& use) {
  if (fault) {
    report_fault(by, *fault, use);
  }
}

/// The mbarrier that an instruction names, and its location.
struct MbarrierPlace {
  Mbarrier* mbarrier = nullptr;
  SharedPlace place;

  explicit operator bool() const { return mbarrier != nullptr; }
};

/// Finds an mbarrier. If there is none, reports a finding that ends the kernel and returns an empty
/// place. Also checks that the access is ordered after the mbarrier's initialisation.
[[nodiscard]] MbarrierPlace find_mbarrier(const Actor& by, std::uint64_t address, Space space);
/// Reports a fault of a barrier and ends the kernel. Does nothing if the fault is empty.
void report_misuse(const Actor& by, const MbarrierFault& fault);

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
