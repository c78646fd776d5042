#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "app/option_groups.hpp"
#include "attention/head_problem.hpp"
#include "attention/input_kind.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "debug/compare.hpp"
#include "emulation/emulated_debug.hpp"
#include "engine/measuring_evaluator.hpp"
#include "measure/worker_loop.hpp"
#include "plan/family.hpp"

namespace fatune {

/// The size of a problem's intermediates.
[[nodiscard]] DumpExtents extents_of(const HeadProblem& head);

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

/// The content of the files that `debug` writes to a folder in addition to debug.json: q.npy, k.npy
/// and v.npy, and for every intermediate <tensor>_float64.npy, <tensor>_16bit.npy and
/// <tensor>_kernel.npy, laid out as StepValues.
struct DebugFiles {
  const HeadProblem& head;
  const HeadInputs& inputs;
  const Comparison& comparison;
  const std::optional<KernelValues>& kernel;
};

inline constexpr const char* kDebugJson = "debug.json";

/// Writes the files and the report, each whole or not at all. Throws Error(io) that names the file.
void write_debug_files(const std::filesystem::path& folder, const DebugFiles& files,
                       const std::string& report_json);

}  // namespace fatune
