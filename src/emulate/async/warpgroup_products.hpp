#pragma once

#include <cstdint>

#include "emulate/execution.hpp"
#include "emulate/values/matrix_product.hpp"

// wgmma.mma_async: when the products happen. Each warp does its 16 of the 64 rows, but a product is
// one operation of four warps: a warp that has waited for it knows that all four have read their
// operands, so that one thread of the warpgroup may hand these over for writing.
namespace fatune::emulate {

/// The product of an instruction, as its details: D (64 x columns) = A (64 x 16) B (16 x columns) +
/// D.
struct ProductShape {
  std::uint16_t columns = 8;
  bool is_bfloat = false;
  bool half_sums = false;  ///< D has f16, two to a register
  bool a_in_registers = false;
  bool negates = false;  ///< one of A and B
  bool a_is_mn_major = false;
  bool b_is_mn_major = false;

  [[nodiscard]] Factor factor() const { return is_bfloat ? Factor::bf16 : Factor::f16; }
  /// Registers of a lane.
  [[nodiscard]] std::uint32_t sums() const { return columns / (half_sums ? 4U : 2U); }
  /// Operands: D, A (4 registers or a descriptor), B's descriptor, whether D is added.
  [[nodiscard]] std::uint32_t a_operand() const { return sums(); }
  [[nodiscard]] std::uint32_t b_operand() const { return sums() + (a_in_registers ? 4 : 1); }
};

/// Puts a product on its way, and checks what it reads in shared memory.
void issue_product(Execution& x, Warp& warp, const Instruction& instruction);
/// wgmma.wait_group's condition: all four warps have issued the products that are waited for.
[[nodiscard]] bool products_are_issued(Execution& x, Warp& warp, const Instruction& instruction,
                                       Mask active);
/// Ends the wait for all but the warp's last `pending` groups. Precondition: they are issued.
void await_products(Execution& x, Warp& warp, std::uint32_t pending);
/// Some products of the warp happen, when the schedule is random.
void land_some_products(Execution& x, Warp& warp);
/// Reports the pending products of a warp that has ended.
void report_pending_products(Execution& x, const Warp& warp);

}  // namespace fatune::emulate
