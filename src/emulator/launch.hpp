#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/memory/clocks.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/program.hpp"

namespace fatune::emulate {

/// The order of events that may happen at any time: asynchronous copies, and turns of warps.
enum class Timing : std::uint8_t {
  early,   ///< a copy reads and writes when it is issued; warps take turns
  late,    ///< a copy happens only when it is waited for
  random,  ///< both at random, from the seed
  /// As late, but one warp of each block executes a single instruction whenever nothing else can
  /// happen: the one with the seed's number, modulo the warps of a block. A block's only warp does
  /// not lag.
  lagging,
};

struct Schedule {
  Timing timing = Timing::late;
  std::uint64_t seed = 1;
};

/// The mistakes to look for. Each check costs time. None changes the kernel's results.
struct Checks {
  bool init = true;
  bool race = true;
  /// Findings of `race` also name the instruction and thread of the other access. Slow.
  bool both_ends = false;
};

/// What one launch may use. A launch that needs more ends, without a finding.
struct LaunchLimits {
  std::uint64_t warp_instructions = std::uint64_t{1} << 30;  ///< limit for all blocks together
  std::size_t printed_bytes = std::size_t{1} << 20;          ///< output of printf
  /// Registers and local memory of the blocks that run at a time.
  std::uint64_t resident_bytes = std::uint64_t{1} << 32;
  std::size_t text_bytes = std::size_t{1} << 24;  ///< formats and strings that printf reads
};

struct LaunchSetup {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< blocks; divides the grid
  std::uint32_t dynamic_smem_bytes = 0;
  std::span<const std::uint8_t> parameters;  ///< laid out as the kernel declares them
  Schedule schedule;
  Checks checks;
  /// The number of blocks that can be resident at a time; 0: all. It is rounded down to whole
  /// clusters, and is at least one cluster. Other blocks begin as resident ones end.
  std::uint32_t resident_blocks = 0;
  /// The most warp instructions that a cluster (a block if there are no clusters) may execute. A
  /// kernel that executes more counts as hung.
  std::uint64_t most_warp_instructions = std::uint64_t{1} << 34;
  LaunchLimits limits;
  /// Names the location of a byte of dynamic shared memory by its offset: "sK [row 3, col 8]". If
  /// the function is empty, or returns an empty string, the name is not known.
  std::function<std::string(std::uint32_t offset)> name_shared;
  /// Selects blocks to run by linear index (a cluster by that of its first block). Empty: all.
  std::function<bool(std::uint32_t block)> chosen;
  /// Returns true if the run must end at once, without a finding. Empty: never. Called often.
  std::function<bool()> stopped;
};

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

/// How often an instruction ran, and at what cost.
struct InstructionCounts {
  std::uint64_t warps = 0;    ///< executions by a warp (a group of its lanes)
  std::uint64_t threads = 0;  ///< executions by lanes
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;  ///< wavefronts if there were no bank conflicts
  std::uint64_t global_sectors = 0;    ///< sectors of 32 bytes
  std::uint64_t bytes = 0;             ///< requested
};

struct LaunchResult {
  FindingLog findings;
  std::vector<InstructionCounts> counts;  ///< indexed like Program::instructions
  std::string printed;                    ///< output of the kernel's printf
  std::string limit;  ///< the limit that has ended the launch, in words; empty: none has
  /// False if a finding (deadlock, trap, hang), a limit or LaunchSetup::stopped has ended the
  /// launch.
  bool finished = false;
};

/// The values of a module's variables between launches, in the order of Program::variables.
using ModuleState = std::vector<std::vector<std::uint8_t>>;

/// The state of a newly loaded module.
[[nodiscard]] ModuleState loaded_state(const Program& program);
/// The state that launches have left in `memory`. Precondition: a launch has run there.
[[nodiscard]] ModuleState state_in(const Program& program, const GlobalMemory& memory);
/// Sets the state in which the next launch begins. Precondition: no launch has run in this memory.
void put_state(const Program& program, const ModuleState& state, GlobalMemory& memory);

/// Runs a kernel. Variables of the module that are already in `memory` keep their content. Mistakes
/// of the kernel are findings. Only a bug in this program (std::logic_error) or a lack of memory
/// throws.
[[nodiscard]] LaunchResult run_kernel(const Program& program, GlobalMemory& memory,
                                      const LaunchSetup& setup);

}  // namespace fatune::emulate
