#pragma once

#include <source_location>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/library.hpp"
#include "model/device_limits.hpp"

/// RAII over the CUDA driver API and NVRTC. No policy. Only this folder's .cpp files see cuda.h.
namespace fatune::gpu {

/// This machine's driver.
struct DriverStatus : LibraryStatus {
  int cuda_version = 0;  ///< 1000 * major + 10 * minor of the driver's API; 0 when unknown
  int device_count = 0;
  std::string error_name;  ///< "CUDA_ERROR_NO_DEVICE"; empty without one

  [[nodiscard]] std::string version_text() const;  ///< "13.0"; empty when unknown
};

/// Loads the driver library at the first call of the process, initialises it and returns the
/// outcome. Never throws. The library is libcuda.so.1 on the loader's search path, or the file
/// named by the environment variable FATUNE_LIBCUDA, which tests without a GPU set to a fake
/// driver.
[[nodiscard]] const DriverStatus& probe_driver();

/// A driver call that failed.
class DriverError : public Error {
 public:
  DriverError(int result, const std::string& call, std::source_location where);

  [[nodiscard]] int result() const noexcept { return result_; }  ///< the CUresult
  [[nodiscard]] const std::string& call() const noexcept { return call_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }  ///< "CUDA_ERROR_..."
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Whether the context is dead (illegal address, launch failure, ...). Every later call then
  /// fails too, and only a new process helps.
  [[nodiscard]] bool sticky() const noexcept;
  [[nodiscard]] bool out_of_memory() const noexcept;

 private:
  int result_;
  std::string call_;
  std::string name_;
  std::string text_;
};

/// A GPU of this machine, in the driver's order (CUDA_VISIBLE_DEVICES applies).
struct Device {
  int ordinal = 0;
  DeviceLimits limits;           ///< free_memory_bytes is 0: only a Context knows (Context::memory)
  std::string unusable_because;  ///< one sentence; empty: usable
  std::string remedy;            ///< what to do about it; empty when usable

  [[nodiscard]] bool usable() const noexcept { return unusable_because.empty(); }
};

/// Every GPU that the driver shows, with its limits and, if it cannot be used, the reason. A GPU of
/// compute capability 9.0 or newer gets the 'a' architecture (sm_90a): its own full instruction
/// set. memory_gbps is 2 * memory clock * bus width, the figure of data sheets. Throws
/// Error(no_gpu) with the probe's problem and remedy if there is no usable driver.
[[nodiscard]] std::vector<Device> list_devices();

/// Describes one GPU. Throws Error(usage) if there is no GPU of that ordinal, Error(no_gpu) without
/// a usable driver.
[[nodiscard]] Device describe_device(int ordinal);

}  // namespace fatune::gpu
