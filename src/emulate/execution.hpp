#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "emulate/launch.hpp"
#include "emulate/program.hpp"
#include "emulate/shared_memory.hpp"
#include "emulate/warp.hpp"

namespace fatune::emulate {

/// A CTA barrier that some have arrived at.
struct Barrier {
  std::uint32_t arrived = 0;   ///< threads
  std::uint32_t expected = 0;  ///< threads; 0: as many as the block has alive
  std::int32_t instruction = -1;
  VectorClock joined;
};

inline constexpr std::size_t kBarriers = 16;

/// One block as it runs: what handlers work on.
class Execution {
 public:
  Execution(const Program& program, GlobalMemory& global, const LaunchSetup& setup,
            LaunchResult& result, std::uint32_t block);

  const Program& program;
  GlobalMemory& global;
  const LaunchSetup& setup;
  LaunchResult& result;
  std::uint32_t block;
  SharedMemory shared;
  std::vector<Warp> warps;
  std::array<Barrier, kBarriers> barriers;
  std::mt19937_64 random;
  bool trapped = false;

  /// 32 lanes of an operand.
  template <typename Lane>
  [[nodiscard]] Lane* lanes(const Warp& warp, const Operand& operand) const {
    return (operand.constant ? program.constants : warp.registers).at<Lane>(operand.offset);
  }

  [[nodiscard]] std::size_t index_of(const Instruction& instruction) const {
    return static_cast<std::size_t>(&instruction - program.instructions.data());
  }
  [[nodiscard]] InstructionCounts& counts(const Instruction& instruction) {
    return result.counts[index_of(instruction)];
  }
  [[nodiscard]] Accessor accessor(const Warp& warp, int lane) const {
    return {warp.index, lane, &warp.clock};
  }

  /// Notes a mistake; `text` is called for the first of its kind at an instruction.
  template <typename Text>
  void report(FindingKind kind, const Warp& warp, const Instruction& instruction, int lane,
              Text text) {
    if (!result.findings.count_again(kind, index_of(instruction))) {
      result.findings.add({kind, index_of(instruction), block,
                           static_cast<std::uint32_t>(warp.index * kLanes + lane), text(), 1});
    }
  }

  [[nodiscard]] std::uint32_t threads_alive() const;
};

}  // namespace fatune::emulate
