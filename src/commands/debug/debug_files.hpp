#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "attention/head_inputs.hpp"
#include "attention/head_problem.hpp"
#include "debug/compare.hpp"

namespace fatune {

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
