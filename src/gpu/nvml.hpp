#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/gpu_reading.hpp"

namespace fatune::gpu {

/// One GPU as NVIDIA's management library sees it. The library is opened by the constructor:
/// libnvidia-ml.so.1 by the loader's search path, or the file named by the environment variable
/// FATUNE_LIBNVML. Nothing of it is ever an error: what cannot be had is absent.
class Nvml {
 public:
  /// `uuid`: "GPU-...". A part of a GPU (MIG) has no clocks of its own, and is absent.
  explicit Nvml(const std::string& uuid);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// Why there are no readings; empty when there are.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] bool available() const noexcept { return problem_.empty(); }

  /// From any thread. Nothing when the SM clock cannot be read.
  [[nodiscard]] std::optional<GpuReading> read() const;

 private:
  friend std::string nvml_driver_release();
  struct Library;
  std::unique_ptr<Library> library_;
  void* device_ = nullptr;
  std::string problem_;
};

/// The driver's release as NVML says it: "580.159.04"; empty when it does not.
[[nodiscard]] std::string nvml_driver_release();

}  // namespace fatune::gpu
