#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "debug/compare.hpp"
#include "debug/head_inputs.hpp"
#include "debug/head_problem.hpp"

namespace fatune {

/// What `debug` leaves in a folder besides debug.json: q, k, v.npy, and of every intermediate
/// <tensor>_float64.npy, <tensor>_16bit.npy and <tensor>_kernel.npy, laid out as StepValues.
struct DebugFiles {
  const HeadProblem& head;
  const HeadInputs& inputs;
  const Comparison& comparison;
  const std::optional<KernelValues>& kernel;
};

inline constexpr const char* kDebugJson = "debug.json";

/// Writes them and the report, each whole or not at all. Error(io) names the file.
void write_debug_files(const std::filesystem::path& folder, const DebugFiles& files,
                       const std::string& report_json);

}  // namespace fatune
