#pragma once

#include <cstdint>

#include "emulate/async/bulk_copy.hpp"
#include "emulate/execution.hpp"

// Decides when bulk copies happen: at any moment after their issue that the schedule chooses. They
// read and write shared memory through the async proxy.
namespace fatune::emulate {

/// Checks what a copy accesses in shared memory and issues it. If it accesses memory that does not
/// exist, only reports a finding. Precondition: copy.instruction and copy.warp are set.
void issue(Execution& x, BulkCopy copy);
/// Lands one load or move, when nothing else can happen. Returns false if none is left.
[[nodiscard]] bool land_next_bulk(Execution& x);
/// Lands some copies, for random schedules.
void land_some_bulk(Execution& x);
/// Ends the wait of these lanes for all but their last `pending` bulk groups.
void await_bulk_groups(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending);
/// Reports stores that were never waited for, and whose lanes have ended.
void report_pending_stores(Execution& x, const Warp& warp);
/// Reports loads that were never waited for, when the cluster ends.
void report_pending_loads(Execution& x);

}  // namespace fatune::emulate
