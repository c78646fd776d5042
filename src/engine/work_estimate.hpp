#pragma once

#include <optional>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "core/sm_rates.hpp"
#include "plan/family.hpp"
#include "report/emulation.hpp"
#include "report/report.hpp"

namespace fatune {

/// The launch on a device that has room for all blocks at once: a persistent kernel, whose blocks
/// share tiles out, has a block for each tile. A grid without such a bound does not change.
[[nodiscard]] LaunchGeometry spread_launch(const Family& family, const Config& config,
                                           const Problem& problem, const DeviceLimits& limits,
                                           const LaunchGeometry& launch);

/// A time for a result that nothing has run, from what was counted or, without that, from the
/// family's quantities, and from what is known of its machine code (docs/estimate.md).
/// Precondition: a block fits an SM.
[[nodiscard]] Estimated estimate_result(const Family& family, const Result& result,
                                        const LaunchGeometry& geometry, const Problem& problem,
                                        const DeviceLimits& limits, const SmRates& rates,
                                        const std::optional<CountedWork>& counted = std::nullopt);

/// What is known of the work of a configuration that was not compiled.
struct Guess {
  Estimated estimate;     ///< good only for ordering
  int blocks_per_sm = 0;  ///< with a usual number of registers
};
[[nodiscard]] Guess guess(const Family& family, const Result& result,
                          const LaunchGeometry& geometry, const Problem& problem,
                          const DeviceLimits& limits, const SmRates& rates);

}  // namespace fatune
