#pragma once

#include <optional>

#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "plan/family.hpp"
#include "report/report.hpp"

namespace fatune {

/// The result of a configuration before it is compiled.
[[nodiscard]] Result make_result(const Family& family, const Config& config);

/// The obstacle to a configuration on a problem before compilation: Invalid or Unlaunchable.
[[nodiscard]] std::optional<Outcome> find_obstacle(const Family& family, const Config& config,
                                                   const Problem& problem,
                                                   const DeviceLimits& limits);

/// The number of the kernel's blocks that fit an SM at a time.
[[nodiscard]] int resident_blocks(const Artifact& artifact, const LaunchGeometry& geometry,
                                  const DeviceLimits& limits);

/// Adds what the machine code and its launch cost. Returns the reason if the arguments do not match
/// or no SM can hold a block.
[[nodiscard]] std::optional<Unlaunchable> add_artifact(const Artifact& artifact,
                                                       const LaunchGeometry& geometry,
                                                       const DeviceLimits& limits, Result& result);

/// The reason why the machine code is not worth measuring: ptxas notes that it serialised
/// asynchronous products, or ignored setmaxnreg. Empty: there is none.
[[nodiscard]] std::optional<Serialized> find_serialization(const ResourceFacts& facts);

}  // namespace fatune
