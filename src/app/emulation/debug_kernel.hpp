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

/// A configuration's problem of one head, cut as the family declares, or as BlockTiles has it by
/// default; without `seq_len`, as long as that many blocks of query rows. Error(too_large) when its
/// intermediates are more than a worker can send.
[[nodiscard]] HeadProblem head_problem(const Family& family, const Config& config,
                                       const ProblemOptions& problems,
                                       std::optional<std::int64_t> seq_len,
                                       std::int64_t seq_blocks);

/// A kernel whose intermediates are asked for.
struct DebuggedKernel {
  const Family& family;
  const Config& config;
  const HeadProblem& head;
  const HeadInputs& inputs;
  const DeviceLimits& limits;
  const CompileSettings& settings;
};

/// Compiles the kernel, with its intermediates where the family declares some, and runs it once in
/// a worker process. Error(bad_file) when it does not compile; Error(gpu_busy), Error(gpu_failure).
[[nodiscard]] DebugResult run_kernel(const DebuggedKernel& kernel, const MeasuringSetup& gpu);

/// Unlaunchable in place of an emulated run.
using EmulatedDebugResult = std::variant<EmulatedDebug, NotEmulated, Outcome>;

/// Without a GPU: compiles it to PTX, in the same way, and runs that once on the CPU.
/// Error(bad_file) when it does not compile.
[[nodiscard]] EmulatedDebugResult emulate_kernel_for_debug(const DebuggedKernel& kernel);

}  // namespace fatune
