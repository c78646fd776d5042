#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fatune {

/// The places where a tool of the CUDA toolkit may be.
struct ToolPlaces {
  std::optional<std::string> chosen;           ///< the user's choice: no other place is searched
  std::vector<std::filesystem::path> folders;  ///< ordered as they are tried
};

/// The places of this machine: the variable (a path to the tool); then the folders of PATH; bin/ of
/// CUDA_HOME, CUDA_PATH and /usr/local/cuda*, newest first; what scripts/setup has unpacked beside
/// the program; NVIDIA's PyPI packages beside the program, and in the Python folders of the virtual
/// environment, the user and the system.
[[nodiscard]] ToolPlaces tool_places(const std::string& variable);

/// The first executable file of that name; nothing if no place has one. Error(bad_file) if the
/// user's choice is not executable.
[[nodiscard]] std::optional<std::filesystem::path> find_tool(const std::string& name,
                                                             const ToolPlaces& places);

/// The path of what was found. Throws Error(bad_file) if nothing was: `what` says which tool is not
/// installed, and what for.
[[nodiscard]] std::string needed_tool(const std::optional<std::filesystem::path>& found,
                                      const std::string& what, const std::string& where,
                                      const std::string& remedy);

/// The tool that disassembles machine code: FATUNE_NVDISASM, else nvdisasm in its usual places.
[[nodiscard]] std::optional<std::filesystem::path> find_nvdisasm();
/// The tool that finds races and stray accesses: FATUNE_COMPUTE_SANITIZER, else compute-sanitizer
/// in its usual places.
[[nodiscard]] std::optional<std::filesystem::path> find_compute_sanitizer();
/// The tool that extracts cubins from other files: FATUNE_CUOBJDUMP, else cuobjdump likewise.
[[nodiscard]] std::optional<std::filesystem::path> find_cuobjdump();
/// Graphviz' dot, which draws graphs: FATUNE_DOT, else dot likewise.
[[nodiscard]] std::optional<std::filesystem::path> find_dot();

/// The profilers: FATUNE_NCU, else ncu in its usual places and those of Nsight Compute's own
/// packages (/opt/nvidia/nsight-compute/*, newest first); FATUNE_NSYS and nsys likewise.
[[nodiscard]] std::optional<std::filesystem::path> find_ncu();
[[nodiscard]] std::optional<std::filesystem::path> find_nsys();

}  // namespace fatune
