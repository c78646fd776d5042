#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "app/option_groups.hpp"
#include "attention/head_inputs.hpp"
#include "attention/head_problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "emulation/emulated_debug.hpp"
#include "engine/measuring_evaluator.hpp"
#include "measure/debug_run.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Returns a configuration's problem of one head, tiled as the family declares, or as BlockTiles by
/// default. Without `seq_len`, its length is `seq_blocks` blocks of query rows. Throws
/// Error(too_large) if its intermediates are more than a worker can send.
[[nodiscard]] HeadProblem head_problem(const Family& family, const Config& config,
                                       const ProblemOptions& problems,
                                       std::optional<std::int64_t> seq_len,
                                       std::int64_t seq_blocks);

/// A kernel whose intermediates are requested.
struct DebuggedKernel {
  const Family& family;
  const Config& config;
  const HeadProblem& head;
  const HeadInputs& inputs;
  const DeviceLimits& limits;
  const CompileSettings& settings;
};

/// Compiles the kernel, with its intermediates if the family declares any, and runs it once in a
/// worker process. Throws Error(bad_file) if it does not compile, Error(gpu_busy) and
/// Error(gpu_failure).
[[nodiscard]] DebugResult run_kernel(const DebuggedKernel& kernel, const MeasuringSetup& gpu);

/// The result of an emulated run. Outcome: the kernel cannot be launched.
using EmulatedDebugResult = std::variant<EmulatedDebug, NotEmulated, Outcome>;

/// Compiles the kernel to PTX in the same way, and runs it once on the CPU. Needs no GPU. Throws
/// Error(bad_file) if it does not compile.
[[nodiscard]] EmulatedDebugResult emulate_kernel_for_debug(const DebuggedKernel& kernel);

}  // namespace fatune
