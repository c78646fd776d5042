#pragma once

#include <cstdint>

#include "emulate/async/bulk_copy.hpp"
#include "emulate/execution.hpp"

// When bulk copies happen: at any moment after their issue, as the schedule says. They read and
// write shared memory through the async proxy.
namespace fatune::emulate {

/// Checks what the copy touches in shared memory and puts it on its way. A finding and nothing else
/// when it touches what is not there. Precondition: copy.instruction and copy.warp are set.
void issue(Execution& x, BulkCopy copy);
/// One copy happens; false: there is none left. For when nothing else can.
[[nodiscard]] bool land_next_bulk(Execution& x);
/// Some happen, when the schedule is random.
void land_some_bulk(Execution& x);
/// Ends the wait of these lanes for all but their last `pending` bulk groups.
void await_bulk_groups(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending);
/// Stores of lanes that have ended, and that were never waited for, are findings.
void report_pending_stores(Execution& x, const Warp& warp);
/// At the cluster's end, reports loads that were never waited for.
void report_pending_loads(Execution& x);

}  // namespace fatune::emulate
