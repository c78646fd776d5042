#pragma once

#include <cstdint>

#include "emulator/execution.hpp"

// Decides when asynchronous copies happen. The ISA lets them read and write at any moment between
// their issue and the end of the wait that covers them. The schedule chooses the moment. Bulk
// copies access shared memory through the async proxy.
namespace fatune::emulate {

[[nodiscard]] bool lands_at_issue(Execution& x);
/// Copies the bytes. The destination stays in flight until the copy is waited for.
void land(Execution& x, Warp& warp, AsyncCopy& copy);
/// Lands some copies of the warp, for random schedules.
void land_some(Execution& x, Warp& warp);
/// Performs an arrival, and the copies that its lane issued before it.
void arrive_for(Execution& x, Warp& warp, std::size_t arrival);
/// Performs one arrival, when nothing else can happen. Returns false if none is left.
[[nodiscard]] bool arrive_next(Execution& x);
/// Ends the wait of these lanes for all but their last `pending` groups.
void await_copies(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending);
/// Reports copies that were never waited for, and whose lanes have ended.
void report_pending(Execution& x, Warp& warp);

/// Checks what a bulk copy accesses in shared memory and issues it. If it accesses memory that does
/// not exist, only reports a finding. Precondition: copy.instruction and copy.warp are set.
void issue(Execution& x, BulkCopy copy);
/// Lands one load or move, when nothing else can happen. Returns false if none is left.
[[nodiscard]] bool land_next_bulk(Execution& x);
/// Lands some bulk copies, for random schedules.
void land_some_bulk(Execution& x);
/// Ends the wait of these lanes for all but their last `pending` bulk groups.
void await_bulk_groups(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending);
/// Reports stores that were never waited for, and whose lanes have ended.
void report_pending_stores(Execution& x, const Warp& warp);
/// Reports loads that were never waited for, when the cluster ends.
void report_pending_loads(Execution& x);

}  // namespace fatune::emulate
