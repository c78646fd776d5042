#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/device_limits.hpp"

namespace fatune::gpu {

/// One GPU as seen by NVIDIA's management library. The constructor opens the library:
/// libnvidia-ml.so.1 on the loader's search path, or the file named by the environment variable
/// FATUNE_LIBNVML. Nothing here is ever an error: readings that are not available are absent.
class Nvml {
 public:
  /// `uuid`: "GPU-...". A part of a GPU (MIG) has no clocks of its own, and so no readings.
  explicit Nvml(const std::string& uuid);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// The reason for which there are no readings; empty if there are.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] bool available() const noexcept { return problem_.empty(); }

  /// Takes a reading. May be called from any thread. Empty if the SM clock cannot be read.
  [[nodiscard]] std::optional<GpuReading> read() const;

  /// The processes with a context on the GPU. Their numbers are those of the driver's PID
  /// namespace.
  [[nodiscard]] std::vector<int> compute_processes() const;

 private:
  friend std::string nvml_driver_release();
  struct Library;
  std::unique_ptr<Library> library_;
  void* device_ = nullptr;
  std::string problem_;
};

/// The driver's release as NVML reports it: "580.159.04"; empty if NVML does not report it.
[[nodiscard]] std::string nvml_driver_release();

/// The release of NVIDIA's kernel driver, such as "580.159.04"; empty if there is none. It is read
/// from the kernel module (/proc/driver/nvidia/version), else from NVML; from NVML alone if
/// FATUNE_LIBNVML names a library. It is read once per process and loads no CUDA.
[[nodiscard]] const std::string& driver_release();

}  // namespace fatune::gpu
