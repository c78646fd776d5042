#pragma once

#include <optional>

#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "engine/problem_plan.hpp"
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

/// Orders report.audited (fastest first, those without a time last) and fills report.audit. For
/// each of the space's rules it says how many configurations the rule dropped on this problem and,
/// estimated from those that were tried anyway, what the rule saved and cost. Precondition: the
/// ranking is made.
void add_audit(const ProblemPlan& plan, ProblemReport& report);

}  // namespace fatune
