#pragma once

#include <cstdint>
#include <string>

#include "emulate/program.hpp"

// setmaxnreg: PTX ISA 9.0, section 9.7.19.5.
namespace fatune::emulate {

class Execution;
struct Block;
struct Warp;

/// Registers of a block that its warps have given up, and may ask for again. How many a kernel is
/// launched with PTX does not say: as many are taken as the block's threads can have at most, so
/// that a wait which never ends here never ends on a GPU either.
class RegisterPool {
 public:
  /// The pool of a block with `threads` threads.
  explicit RegisterPool(std::uint32_t threads);

  /// The most registers that a thread has when the kernel begins.
  [[nodiscard]] std::uint32_t of_thread() const { return of_thread_; }
  [[nodiscard]] std::uint32_t available() const { return available_; }
  void give(std::uint32_t registers) { available_ += registers; }
  void take(std::uint32_t registers) { available_ -= registers; }

 private:
  std::uint32_t of_thread_;
  std::uint32_t available_ = 0;
};

/// The details of setmaxnreg; its number is the registers of a thread.
struct RegisterChange {
  bool gives_up = false;  ///< .dec
};

/// Whether the pool has what the warp asks for.
[[nodiscard]] bool registers_are_there(Execution& x, Warp& warp, const Instruction& instruction,
                                       Mask mask);
/// Sets how many registers a thread of the warp has; more come out of the block's pool.
void set_registers(Execution& x, Warp& warp, const Instruction& instruction, Mask mask);
/// "for 64 registers a thread more, where the block's pool has 512"
[[nodiscard]] std::string describe_awaited_registers(Execution& x, const Warp& warp,
                                                     const Instruction& instruction);

}  // namespace fatune::emulate
