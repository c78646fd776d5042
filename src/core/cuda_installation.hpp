#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// NVRTC, and the CUDA headers of the same release.
struct CudaInstallation {
  std::filesystem::path nvrtc;                         ///< libnvrtc.so.13
  std::vector<std::filesystem::path> include_folders;  ///< may be empty: a wheel has NVRTC alone

  /// Of CUDA, by NVRTC's file name: 13; 0 where it says nothing.
  [[nodiscard]] int major() const;
  bool operator==(const CudaInstallation&) const = default;
};

/// Every one with NVRTC 12 or 13 that is found, best first: of CUDA_HOME, of CUDA_PATH; the one
/// that fatune was built with (not in a package); NVIDIA's Python packages beside the program;
/// /usr/local/cuda*, the newest first; Python packages of the virtual environment, ~/.local,
/// /usr/local and /usr; /usr.
[[nodiscard]] std::vector<CudaInstallation> cuda_installations();

/// The first whose machine code the kernel driver of that release ("535.104.05") loads; the first
/// of all where none is, or where there is no driver (empty).
[[nodiscard]] std::optional<CudaInstallation> choose_installation(
    const std::vector<CudaInstallation>& found, std::string_view driver_release);

/// The choice on this machine; nothing where there is no NVRTC. Looked for once in each process.
[[nodiscard]] const std::optional<CudaInstallation>& cuda_installation();

}  // namespace fatune
