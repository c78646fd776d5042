#pragma once

#include "emulate/execution.hpp"

// Registers of wgmma: its sums, and A where it is in registers. Until the product is waited for
// they must not be touched, and what other instructions wrote there needs a wgmma.fence before. PTX
// ISA 9.0, section 9.7.15.
namespace fatune::emulate {

/// Checks an instruction's use of watched registers, by their number (see Program::watched_uses).
/// Reports accesses that come too early, and notes writes. Precondition: instruction.watched >= 0.
void check_watched(Execution& x, Warp& warp, const Instruction& instruction);

/// After a product was issued: the registers that it may touch from now on.
void watch_issued(const Execution& x, Warp& warp, const AsyncProduct& product);
/// After products were waited for: which registers those that are left may still touch.
void watch_pending(const Execution& x, Warp& warp);

/// wgmma.fence: what was written before is ordered.
void fence_watched(Warp& warp);

}  // namespace fatune::emulate
