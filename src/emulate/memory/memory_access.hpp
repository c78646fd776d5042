#pragma once

#include <cstdint>

#include "emulate/execution.hpp"

// A thread's accesses to memory, with checks. A wrong access is a finding; it reads zeros and
// writes nothing.
namespace fatune::emulate {

enum class Space : std::uint8_t { generic, global, shared, shared_cluster, local, parameter };

// Generic addresses: device memory lies above, each other space in a window of its own.
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
/// Shared addresses begin above 0, as the system keeps the first bytes to itself.
inline constexpr std::uint32_t kSharedBase = 1024;
/// Addresses of shared::cluster: a block's own, or these bits and what the block itself calls it.
inline constexpr std::uint32_t kRankShift = 24;
constexpr std::uint32_t cluster_address(std::uint32_t rank, std::uint32_t address) {
  return (rank + 1) << kRankShift | address;
}

/// The address within shared memory of a generic address; other addresses stay.
constexpr std::uint64_t shared_part(std::uint64_t address) {
  return address / kWindowBytes == 1 ? address - kSharedWindow : address;
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

/// The shared bytes when they are there; a finding and nothing when they are not.
[[nodiscard]] SharedPlace check_shared(const Actor& by, const Access& access);
/// False, with a finding, when a write would overwrite an mbarrier.
[[nodiscard]] bool keeps_mbarriers(const Actor& by, const SharedPlace& place, std::uint32_t bytes);
/// The global bytes when they are there; a finding and null when they are not.
[[nodiscard]] std::uint8_t* check_global(const Actor& by, const Access& access, bool reads);

/// How shared memory is used: in words, and what that is.
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
/// Reports it if there is one.
inline void report_shared(const Actor& by, const std::optional<SharedFault>& fault,
                          const SharedUse& use) {
  if (fault) {
    report_fault(by, *fault, use);
  }
}
/// As findings name it: nothing when ends are not kept.
[[nodiscard]] std::optional<OtherAccess> other_access(const Execution& x,
                                                      const std::optional<AccessEnd>& end);

}  // namespace fatune::emulate
