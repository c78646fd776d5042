#pragma once

#include <variant>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/target.hpp"
#include "app/options.hpp"
#include "attention/head_inputs.hpp"
#include "attention/head_problem.hpp"
#include "emulation/emulated_debug.hpp"
#include "measure/debug_run.hpp"

namespace fatune {

/// A head of that length for the configuration, cut as the family declares, or as BlockTiles has
/// it by default. Error(too_large) when its intermediates are more than a worker can send.
[[nodiscard]] HeadProblem head_problem(const Family& family, const Config& config,
                                       const DebugOptions& options);

/// Compiles the kernel, with its intermediates where the family declares some, and runs it once in
/// a worker process. Error(bad_file) when it does not compile; Error(gpu_busy), Error(gpu_failure).
/// Precondition: the target has a GPU.
[[nodiscard]] DebugResult run_kernel(const KernelChoice& kernels, const Config& config,
                                     const HeadProblem& head, const HeadInputs& inputs,
                                     const Target& target, const DebugOptions& options);

/// Unlaunchable in place of an emulated run.
using EmulatedDebugResult = std::variant<EmulatedDebug, NotEmulated, Outcome>;

/// Without a GPU: compiles it to PTX, in the same way, and runs that once on the CPU.
/// Error(bad_file) when it does not compile.
[[nodiscard]] EmulatedDebugResult emulate_kernel_for_debug(
    const KernelChoice& kernels, const Config& config, const HeadProblem& head,
    const HeadInputs& inputs, const Target& target, const DebugOptions& options);

}  // namespace fatune
