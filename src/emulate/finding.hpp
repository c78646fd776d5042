#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulate/memory/clocks.hpp"

namespace fatune::emulate {

/// The kind of a finding, and the check that it belongs to.
enum class FindingKind : std::uint8_t {
  out_of_bounds,        ///< mem
  misaligned,           ///< mem
  uninitialised,        ///< init
  race,                 ///< race
  in_flight,            ///< race: accessed while an asynchronous operation may access it
  missing_proxy_fence,  ///< sync: the async proxy may miss what was written
  pending_registers,    ///< sync: a wgmma's registers are accessed before a wait for it
  missing_wgmma_fence,  ///< sync
  divergent_product,    ///< sync: not all warps of a warpgroup issue the same wgmma
  divergent_barrier,    ///< sync
  barrier_misuse,       ///< sync
  deadlock,             ///< deadlock
  pending_at_exit,      ///< sync
  inactive_lane,        ///< sync: shfl reads the value of an inactive lane
  trap,                 ///< trap: always checked
  assertion,            ///< trap: assert() has failed
};

[[nodiscard]] const char* name_of(FindingKind kind);
/// The name of the kind: "read", "asynchronous write".
[[nodiscard]] const char* name_of(AccessKind kind);
/// The check: "mem", "init", "race", "sync" or "deadlock"; "trap" if the kernel ends itself.
[[nodiscard]] const char* check_of(FindingKind kind);
/// True for findings about two accesses, or about an access and an operation under way.
[[nodiscard]] bool has_two_ends(FindingKind kind);

/// The earlier access (in this run) that the reported access is not ordered with.
struct OtherAccess {
  AccessKind kind = AccessKind::read;
  std::size_t instruction = 0;  ///< index into Program::instructions
  std::uint32_t block = 0;      ///< linear index
  std::uint32_t thread = 0;     ///< linear index in the block
};

/// The text of a finding.
struct FindingWords {
  std::string text;         ///< the finding in words, with addresses by name
  std::string memory = {};  ///< "sK [row 1, col 8]"; empty: no memory
  std::optional<AccessKind> access = std::nullopt;  ///< how the memory was accessed
  std::optional<OtherAccess> other = std::nullopt;  ///< Checks::both_ends
};

/// The first occurrence of a mistake of the kernel. Further ones at the same instruction are only
/// counted.
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
  /// If this kind at this instruction is known, counts it again and returns true. Its text is then
  /// not needed.
  [[nodiscard]] bool count_again(FindingKind kind, std::size_t instruction);

 private:
  std::vector<Finding> findings_;
};

}  // namespace fatune::emulate
