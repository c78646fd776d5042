#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fatune {

/// The places where a tool of the CUDA toolkit may be.
struct ToolPlaces {
  std::optional<std::string> chosen;           ///< the user's choice: no other place counts
  std::vector<std::filesystem::path> folders;  ///< in the order in which they are tried
};

/// The places of this machine: the variable (a path to the tool); then the folders of PATH; bin/ of
/// CUDA_HOME, CUDA_PATH and /usr/local/cuda*, the newest first; what scripts/setup has unpacked
/// beside the program; NVIDIA's PyPI packages beside the program, in the virtual environment, the
/// user's and the system's Python folders.
[[nodiscard]] ToolPlaces tool_places(const std::string& variable);

/// The first executable file of that name; nothing when no place has one. Error(bad_file) when the
/// user has chosen one that is not executable.
[[nodiscard]] std::optional<std::filesystem::path> find_tool(const std::string& name,
                                                             const ToolPlaces& places);

/// The tool that disassembles machine code: FATUNE_NVDISASM, else nvdisasm in its usual places.
[[nodiscard]] std::optional<std::filesystem::path> find_nvdisasm();
/// The tool that looks for races and stray accesses: FATUNE_COMPUTE_SANITIZER, else
/// compute-sanitizer in its usual places.
[[nodiscard]] std::optional<std::filesystem::path> find_compute_sanitizer();
/// The tool that takes cubins out of other files: FATUNE_CUOBJDUMP, else cuobjdump there.
[[nodiscard]] std::optional<std::filesystem::path> find_cuobjdump();
/// Graphviz' dot, which draws graphs: FATUNE_DOT, else dot there.
[[nodiscard]] std::optional<std::filesystem::path> find_dot();

/// The profilers: FATUNE_NCU, else ncu in its usual places and those of Nsight Compute's own
/// packages (/opt/nvidia/nsight-compute/*, the newest first); FATUNE_NSYS and nsys likewise.
[[nodiscard]] std::optional<std::filesystem::path> find_ncu();
[[nodiscard]] std::optional<std::filesystem::path> find_nsys();

}  // namespace fatune
