#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu/context.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurer.hpp"

namespace fatune {

/// The parts of the measurer that counting needs.
struct CountingParts {
  const gpu::Context& context;
  const gpu::Stream& stream;
  std::function<void()> queue_flush;  ///< makes the L2 cold; does not wait
};

/// Reads the hardware counters of `request.runs` runs of the kernel, by metric: Measurer::count().
/// Throws gpu::DriverError if the kernel fails, Error(gpu_failure) if counters cannot be read.
[[nodiscard]] std::vector<std::map<std::string, double>> count_runs(const KernelLaunch& kernel,
                                                                    const CountRequest& request,
                                                                    const CountingParts& parts);

}  // namespace fatune
