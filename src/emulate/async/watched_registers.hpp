#pragma once

#include "emulate/execution.hpp"

// The registers of wgmma: its sums, and A if it is in registers. They must not be accessed until
// the product is waited for. Writes by other instructions need a wgmma.fence before the product.
// PTX ISA 9.0, section 9.7.15.
namespace fatune::emulate {

/// Checks an instruction's use of watched registers (see Program::watched_uses). Reports accesses
/// that come too early, and records writes. Precondition: instruction.watched >= 0.
void check_watched(Execution& x, Warp& warp, const Instruction& instruction);

/// Marks the registers that a newly issued product may access from now on.
void watch_issued(const Execution& x, Warp& warp, const AsyncProduct& product);
/// Keeps only the marks of products that are still pending, after a wait for others.
void watch_pending(const Execution& x, Warp& warp);

/// wgmma.fence: orders earlier writes before later products.
void fence_watched(Warp& warp);

}  // namespace fatune::emulate
