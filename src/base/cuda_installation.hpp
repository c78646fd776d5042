#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

// Where NVIDIA's toolkits, Python packages and tools are on this machine.

/// The system's toolkits, which need not exist: /usr/local/cuda, then /usr/local/cuda-*, the newest
/// first.
[[nodiscard]] std::vector<std::filesystem::path> system_toolkits();

/// The release of NVIDIA's kernel driver ("580.159.04"), from the text of its module
/// (/proc/driver/nvidia/version); empty if there is no driver.
[[nodiscard]] std::string module_driver_release();

/// Reads the release from the kernel module's text; empty if the text has none.
[[nodiscard]] std::string read_driver_release(std::string_view text);

/// NVRTC and the CUDA headers of the same release.
struct CudaInstallation {
  std::filesystem::path nvrtc;                         ///< libnvrtc.so.13
  std::vector<std::filesystem::path> include_folders;  ///< may be empty: a wheel has NVRTC alone

  /// CUDA's major version from NVRTC's file name: 13; 0 if the name does not say.
  [[nodiscard]] int major() const;
  bool operator==(const CudaInstallation&) const = default;
};

/// All installations with NVRTC 12 or 13, best first: CUDA_HOME, CUDA_PATH; the one that fatune was
/// built with (not in a package); NVIDIA's Python packages beside the program; /usr/local/cuda*,
/// the newest first; Python packages of the virtual environment, ~/.local, /usr/local and /usr;
/// /usr.
[[nodiscard]] std::vector<CudaInstallation> cuda_installations();

/// The first installation whose machine code the kernel driver of that release ("535.104.05")
/// loads. The first of all if there is none, or if there is no driver (empty release).
[[nodiscard]] std::optional<CudaInstallation> choose_installation(
    const std::vector<CudaInstallation>& found, std::string_view driver_release);

/// The installation chosen on this machine; nothing if there is no NVRTC. Each process searches
/// once.
[[nodiscard]] const std::optional<CudaInstallation>& cuda_installation();

/// The first executable file of that name ("ncu"), also for programs that are not NVIDIA's; nothing
/// if there is none. Searched are: the path that the variable FATUNE_NCU has, and then nothing
/// else; the folders of PATH; bin/ of CUDA_HOME, CUDA_PATH and /usr/local/cuda*, newest first; what
/// scripts/setup has unpacked beside the program; NVIDIA's PyPI packages beside the program, and in
/// the Python folders of the virtual environment, the user and the system; for the profilers, the
/// folders of their own packages (/opt/nvidia/nsight-compute/*, newest first). Error(bad_file) if
/// the variable's file is not executable.
[[nodiscard]] std::optional<std::filesystem::path> find_tool(std::string_view name);

/// The path of what was found. Throws Error(bad_file) if nothing was: `what` says which tool is not
/// installed, and what for.
[[nodiscard]] std::string needed_tool(const std::optional<std::filesystem::path>& found,
                                      const std::string& what, const std::string& where,
                                      const std::string& remedy);

}  // namespace fatune
