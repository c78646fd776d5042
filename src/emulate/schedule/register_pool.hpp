#pragma once

#include <cstdint>
#include <string>

#include "emulate/program.hpp"

// setmaxnreg: PTX ISA 9.0, section 9.7.19.5.
namespace fatune::emulate {

class Execution;
struct Block;
struct Warp;

/// Registers of a block that its warps have given up and may request again. PTX does not say how
/// many a kernel is launched with. The pool assumes the most that the block's threads can have, so
/// that a wait which never ends here never ends on a GPU either.
class RegisterPool {
 public:
  /// The pool of a block with `threads` threads.
  explicit RegisterPool(std::uint32_t threads);

  /// The registers that a thread has when the kernel begins: the most that it can have.
  [[nodiscard]] std::uint32_t of_thread() const { return of_thread_; }
  [[nodiscard]] std::uint32_t available() const { return available_; }
  void give(std::uint32_t registers) { available_ += registers; }
  void take(std::uint32_t registers) { available_ -= registers; }

 private:
  std::uint32_t of_thread_;
  std::uint32_t available_ = 0;
};

/// The details of setmaxnreg. The instruction's variant is the number of registers per thread.
struct RegisterChange {
  bool gives_up = false;  ///< .dec
};

/// True if the pool has what the warp requests.
[[nodiscard]] bool registers_are_there(Execution& x, Warp& warp, const Instruction& instruction,
                                       Mask mask);
/// Sets the number of registers per thread of the warp. Additional ones come from the block's pool.
void set_registers(Execution& x, Warp& warp, const Instruction& instruction, Mask mask);
/// Describes the wait: "for 2048 registers, but the block's pool has 512".
[[nodiscard]] std::string describe_awaited_registers(Execution& x, const Warp& warp,
                                                     const Instruction& instruction);

}  // namespace fatune::emulate
