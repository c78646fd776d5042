#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulate/memory/access_ends.hpp"

namespace fatune::emulate {

/// The kind of a finding, and the check that it belongs to.
enum class FindingKind : std::uint8_t {
  out_of_bounds,        ///< mem
  misaligned,           ///< mem
  uninitialised,        ///< init
  race,                 ///< race
  in_flight,            ///< race: touched while an asynchronous operation may touch it
  missing_proxy_fence,  ///< sync: the async proxy need not see what was written
  pending_registers,    ///< sync: registers of a wgmma are touched before it is waited for
  missing_wgmma_fence,  ///< sync
  divergent_product,    ///< sync: not all warps of a warpgroup issue the same wgmma
  divergent_barrier,    ///< sync
  barrier_misuse,       ///< sync
  deadlock,             ///< deadlock
  pending_at_exit,      ///< sync
  inactive_lane,        ///< sync: shfl takes the value of a lane that does not take part
  trap,                 ///< always
  assertion,            ///< trap: assert() has failed
};

[[nodiscard]] const char* name_of(FindingKind kind);
/// "read", "asynchronous write"
[[nodiscard]] const char* name_of(AccessKind kind);
/// "mem", "init", "race", "sync", "deadlock" or, of what ends a kernel by its own will, "trap".
[[nodiscard]] const char* check_of(FindingKind kind);
/// Whether it is about two accesses, or about an access and an operation under way.
[[nodiscard]] bool has_two_ends(FindingKind kind);

/// The access that one's own is not ordered with: it came before, in this run.
struct OtherAccess {
  AccessKind kind = AccessKind::read;
  std::size_t instruction = 0;  ///< index into Program::instructions
  std::uint32_t block = 0;      ///< linear index
  std::uint32_t thread = 0;     ///< linear index in the block
};

/// The text of a finding.
struct FindingWords {
  std::string text;                                 ///< in words, with the address by name
  std::string memory = {};                          ///< "sK [row 1, col 8]"; empty: of no memory
  std::optional<AccessKind> access = std::nullopt;  ///< to that memory
  std::optional<OtherAccess> other = std::nullopt;  ///< Checks::both_ends
};

/// One mistake of the kernel, as it was first met; the same one at the same instruction is counted,
/// not repeated.
struct Finding : FindingWords {
  FindingKind kind = FindingKind::trap;
  std::size_t instruction = 0;  ///< index into Program::instructions
  std::uint32_t block = 0;      ///< linear index
  std::uint32_t thread = 0;     ///< linear index in the block
  std::uint64_t count = 1;
};

/// Findings by kind and instruction.
class FindingLog {
 public:
  void add(Finding finding);
  [[nodiscard]] const std::vector<Finding>& all() const { return findings_; }
  [[nodiscard]] bool empty() const { return findings_.empty(); }
  /// True when this kind at this instruction is known: its text need not be made again.
  [[nodiscard]] bool count_again(FindingKind kind, std::size_t instruction);

 private:
  std::vector<Finding> findings_;
};

}  // namespace fatune::emulate
