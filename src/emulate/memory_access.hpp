#pragma once

#include <cstddef>
#include <cstdint>

#include "emulate/execution.hpp"

// What a thread's access to memory does, checked. A wrong access is a finding; it reads zeros and
// writes nothing.
namespace fatune::emulate {

enum class Space : std::uint8_t { generic, global, shared, local, parameter };

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

/// One access of one lane.
struct Access {
  Space space = Space::generic;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
};

void read_memory(Execution& x, Warp& warp, const Instruction& instruction, int lane,
                 const Access& access, void* to);
void write_memory(Execution& x, Warp& warp, const Instruction& instruction, int lane,
                  const Access& access, const void* from);

/// The shared bytes' offset when they are there; a finding and nothing when they are not.
[[nodiscard]] bool check_shared(Execution& x, const Warp& warp, const Instruction& instruction,
                                int lane, const Access& access, std::uint32_t& offset);
/// The global bytes when they are there; a finding and null when they are not.
[[nodiscard]] std::uint8_t* check_global(Execution& x, const Warp& warp,
                                         const Instruction& instruction, int lane,
                                         const Access& access, bool reads);
void report_shared(Execution& x, const Warp& warp, const Instruction& instruction, int lane,
                   const SharedFault& fault, const char* doing);

}  // namespace fatune::emulate
