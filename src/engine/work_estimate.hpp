#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "plan/family.hpp"
#include "report/emulation.hpp"
#include "report/report.hpp"

namespace fatune {

/// The launch on a device that has room for all blocks at once. A persistent kernel, whose blocks
/// share the tiles, then has one block per tile. A grid that does not depend on the number of SMs
/// does not change.
[[nodiscard]] LaunchGeometry spread_launch(const Family& family, const Config& config,
                                           const Problem& problem, const DeviceLimits& limits,
                                           const LaunchGeometry& launch);

/// Returns the number of tiles of a problem: the blocks on a device with room for all, if the
/// problem had a single key. Blocks that share the keys of a tile then are one. Nothing if no
/// number of SMs is large enough, or if the kernel cannot be launched on the problem.
[[nodiscard]] std::optional<std::int64_t> count_tiles(const Family& family, const Config& config,
                                                      Problem problem, const DeviceLimits& limits);

/// What is known about the code of a kernel that has not been run.
struct KnownCode {
  /// Whether it multiplies matrices on the tensor cores. A family that does not say how much work
  /// they have is taken to give them all products or none.
  bool uses_tensor_cores = true;
  std::optional<CountedWork> counted = std::nullopt;
};

/// Estimates the time of a result that has not been run (docs/estimate.md). It uses the family's
/// model or, without it, the counted work or, without that, the family's quantities, and what is
/// known about the machine code. Precondition: a block fits an SM.
[[nodiscard]] Estimated estimate_result(const Family& family, const Result& result,
                                        const LaunchGeometry& geometry, const Problem& problem,
                                        const DeviceLimits& limits, const SmRates& rates,
                                        const KnownCode& code = {});

/// Whether PTX has an instruction that the tensor cores execute.
[[nodiscard]] bool uses_tensor_cores(std::string_view ptx);

/// A guess about a configuration that was not compiled.
struct Guess {
  Estimated estimate;     ///< good only for ordering
  int blocks_per_sm = 0;  ///< what a typical number of registers allows
};
[[nodiscard]] Guess guess(const Family& family, const Result& result,
                          const LaunchGeometry& geometry, const Problem& problem,
                          const DeviceLimits& limits, const SmRates& rates);

}  // namespace fatune
