#pragma once

#include <cstdint>

#include "emulate/execution.hpp"

// When asynchronous copies happen. The ISA lets them read and write at any moment between their
// issue and the end of the wait that covers them: the schedule chooses.
namespace fatune::emulate {

[[nodiscard]] bool lands_at_issue(Execution& x);
/// Moves the bytes. The destination stays in flight until it is waited for.
void land(Execution& x, Warp& warp, AsyncCopy& copy);
/// Some copies of the warp land, when the schedule is random.
void land_some(Execution& x, Warp& warp);
/// The arrival happens, and with it the copies that its lane has issued before.
void arrive_for(Execution& x, Warp& warp, std::size_t arrival);
/// One arrival happens; false: there is none left. For when nothing else can.
[[nodiscard]] bool arrive_next(Execution& x);
/// Ends the wait of these lanes for all but their last `pending` groups.
void await_copies(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending);
/// Copies that were never waited for are findings: their lanes have ended.
void report_pending(Execution& x, const Warp& warp);

}  // namespace fatune::emulate
