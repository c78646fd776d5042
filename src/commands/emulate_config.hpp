#pragma once

#include "compile/cubin_cache.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "emulation/emulate_kernel.hpp"
#include "plan/family.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// The settings that all configurations of a command share.
struct EmulationJob {
  const Family& family;
  const DeviceLimits& limits;
  EmulationSettings settings;
  EmulatedInputs& inputs;
  CubinCache* cache = nullptr;  ///< may be null
};

/// Compiles a configuration with line information and runs its PTX, the whole grid, on the CPU.
/// Faults, and instructions that are not covered, become the row's outcome. Safe to call from
/// several threads.
[[nodiscard]] EmulatedConfig emulate_config(const EmulationJob& job, const Config& config,
                                            const Problem& problem);

}  // namespace fatune
