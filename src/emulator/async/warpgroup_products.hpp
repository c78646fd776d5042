#pragma once

#include <cstdint>

#include "emulator/execution.hpp"
#include "emulator/values/matrix_product.hpp"

// wgmma.mma_async: decides when the products happen. Each warp computes its 16 of the 64 rows, but
// a product is one operation of four warps. A warp that has waited for it knows that all four have
// read their operands. One thread of the warpgroup may then hand the operands over for writing.
namespace fatune::emulate {

/// The details of a product instruction: D (64 x columns) = A (64 x k) B (k x columns) + D, where a
/// row of A and a column of B have 32 bytes. An instruction has room for 8 bytes of details.
struct ProductShape {
  std::uint16_t columns = 8;
  Factor a = Factor::f16;
  Factor b = Factor::f16;
  bool half_sums : 1 = false;  ///< D is f16, two elements to a register
  bool a_in_registers : 1 = false;
  bool negates : 1 = false;  ///< A or B, but not both
  bool a_is_mn_major : 1 = false;
  bool b_is_mn_major : 1 = false;

  /// The number of D's registers per lane.
  [[nodiscard]] std::uint32_t sums() const { return columns / (half_sums ? 4U : 2U); }
  /// The index of A's first operand. Operands: D, A (4 registers or a descriptor), B's descriptor,
  /// whether D is added.
  [[nodiscard]] std::uint32_t a_operand() const { return sums(); }
  [[nodiscard]] std::uint32_t b_operand() const { return sums() + (a_in_registers ? 4 : 1); }
};

/// The handler of wgmma.mma_async. Issues a product, and checks what it reads in shared memory.
void issue_product(const Step& step);
/// The condition of wgmma.wait_group: all four warps have issued the products that are waited for.
[[nodiscard]] bool products_are_issued(const Step& step);
/// The handler of wgmma.wait_group. Ends the wait for all but the warp's last `variant` groups.
/// Precondition: those waited for are issued.
void await_products(const Step& step);
/// Lands some products of the warp, for random schedules.
void land_some_products(Execution& x, Warp& warp);
/// Reports the pending products of a warp that has ended.
void report_pending_products(Execution& x, Warp& warp);

}  // namespace fatune::emulate
