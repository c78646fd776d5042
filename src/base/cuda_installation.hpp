#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

// Where NVIDIA's toolkits and Python packages are installed. The folders that are returned need not
// exist.

/// The entries of a folder, sorted by name with numbers by size (cuda-12.9 before cuda-13.0). Empty
/// if the folder cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> sorted_entries(
    const std::filesystem::path& folder);

/// The system's toolkits: /usr/local/cuda, then /usr/local/cuda-*, the newest first.
[[nodiscard]] std::vector<std::filesystem::path> system_toolkits();

/// The toolkits that the user chose: CUDA_HOME and CUDA_PATH, if they are set.
[[nodiscard]] std::vector<std::filesystem::path> chosen_toolkits();

/// The prefix that this program is installed under: /venv for /venv/bin/fatune.
[[nodiscard]] std::optional<std::filesystem::path> program_prefix();

/// The prefixes that Python packages are installed under: the virtual environment's, ~/.local,
/// /usr/local, /usr.
[[nodiscard]] std::vector<std::filesystem::path> python_prefixes();

/// The folders below `prefix` that Python packages are in, whether they exist or not:
/// <prefix>/lib/python3.*/site-packages, and the folder of `pip install --target <prefix>`.
[[nodiscard]] std::vector<std::filesystem::path> python_packages(
    const std::filesystem::path& prefix);

/// The folders of NVIDIA's Python packages below `prefix`.
[[nodiscard]] std::vector<std::filesystem::path> nvidia_packages(
    const std::filesystem::path& prefix);

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

}  // namespace fatune
