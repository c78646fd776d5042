#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emulate/finding.hpp"
#include "emulate/memory/global_memory.hpp"
#include "emulate/program.hpp"

namespace fatune::emulate {

/// The order of events that may happen at any time: asynchronous copies, and turns of warps.
enum class Timing : std::uint8_t {
  early,   ///< a copy reads and writes when it is issued; warps take turns
  late,    ///< not before it is waited for
  random,  ///< by the seed
};

struct Schedule {
  Timing timing = Timing::late;
  std::uint64_t seed = 1;
};

/// Which mistakes are looked for. All cost time; the results are the same without.
struct Checks {
  bool init = true;
  bool race = true;
  /// With `race`: findings also say which instruction and thread made the other access. Slow.
  bool both_ends = false;
};

struct LaunchSetup {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< blocks; divides the grid
  std::uint32_t dynamic_smem_bytes = 0;
  std::span<const std::uint8_t> parameters;  ///< as the kernel declares them, one after another
  Schedule schedule;
  Checks checks;
  /// Blocks that there is room for at a time, in whole clusters, at least one; 0: for all. The
  /// others begin as these end.
  std::uint32_t resident_blocks = 0;
  /// The most warp instructions of a block, or of all blocks of a cluster; a kernel that takes more
  /// counts as hung.
  std::uint64_t most_warp_instructions = std::uint64_t{1} << 34;
  /// Names the place of a byte of dynamic shared memory, by its offset: "sK [row 3, col 8]". The
  /// function or its answer may be empty: the name is not known.
  std::function<std::string(std::uint32_t offset)> name_shared;
  /// Which blocks are run, by linear index (of a cluster: that of its first). Empty: all.
  std::function<bool(std::uint32_t block)> chosen;
  /// True: the run is to end at once, without a finding. Empty: never. Asked often.
  std::function<bool()> stopped;
};

/// How often, and at what cost, an instruction ran.
struct InstructionCounts {
  std::uint64_t warps = 0;    ///< executions by a warp (a group of its lanes)
  std::uint64_t threads = 0;  ///< by lanes
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;  ///< without bank conflicts
  std::uint64_t global_sectors = 0;    ///< of 32 bytes
  std::uint64_t bytes = 0;             ///< asked for
};

struct LaunchResult {
  FindingLog findings;
  std::vector<InstructionCounts> counts;  ///< by instruction
  std::string printed;                    ///< by the kernel, with printf
  /// False: a finding (deadlock, trap, hang) has ended it, or LaunchSetup::stopped.
  bool finished = false;
};

/// Runs a kernel. Variables of the module that are in `memory` keep what they hold. Whatever the
/// kernel does wrong is a finding; only a bug in this program throws (std::logic_error), or memory
/// that runs out.
[[nodiscard]] LaunchResult run_kernel(const Program& program, GlobalMemory& memory,
                                      const LaunchSetup& setup);

}  // namespace fatune::emulate
