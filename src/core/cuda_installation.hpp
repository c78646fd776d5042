#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

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
