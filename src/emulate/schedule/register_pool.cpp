#include "emulate/schedule/register_pool.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emulate/execution.hpp"

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kRegistersOfSm = 65536;
constexpr std::uint32_t kMostOfThread = 255;
constexpr std::uint32_t kUnit = 8;

std::uint32_t most_of_thread(std::uint32_t threads) {
  const std::uint32_t share = kRegistersOfSm / std::max(threads, 1U);
  return std::min(share / kUnit * kUnit, kMostOfThread);
}

bool gives_up(const Instruction& instruction) {
  return instruction.details_as<RegisterChange>().gives_up;
}

/// The number of registers that the pool must give to all the warp's threads together.
std::uint32_t missing(const Warp& warp, const Instruction& instruction) {
  const std::uint32_t wanted = instruction.variant;
  return wanted > warp.registers_of_thread ? (wanted - warp.registers_of_thread) * kLanes : 0;
}

}  // namespace

RegisterPool::RegisterPool(std::uint32_t threads) : of_thread_(most_of_thread(threads)) {}

bool registers_are_there(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  return gives_up(instruction) ||
         missing(warp, instruction) <= x.block_of(warp).registers.available();
}

void set_registers(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  const std::uint32_t wanted = instruction.variant;
  RegisterPool& pool = x.block_of(warp).registers;
  if (gives_up(instruction) && wanted > warp.registers_of_thread) {
    x.report(FindingKind::barrier_misuse, warp, instruction, 0, [&] {
      return fmt::format("gives up registers to keep {}, but a thread has at most {}", wanted,
                         warp.registers_of_thread);
    });
    return;
  }
  pool.take(missing(warp, instruction));
  if (wanted < warp.registers_of_thread) {
    pool.give((warp.registers_of_thread - wanted) * kLanes);
  }
  warp.registers_of_thread = wanted;
  x.note_progress();
}

std::string describe_awaited_registers(Execution& x, const Warp& warp,
                                       const Instruction& instruction) {
  return fmt::format("for {} registers, but the block's pool has {}", missing(warp, instruction),
                     x.block_of(warp).registers.available());
}

}  // namespace fatune::emulate
