#pragma once

#include <source_location>
#include <string>

#include "base/error.hpp"

/// RAII over the CUDA driver API and NVRTC. No policy. Only this folder's .cpp files see cuda.h.
namespace fatune::gpu {

enum class DriverState { ok, no_library, too_old, init_failed, no_device };

/// The state of this machine's driver, and the remedy when it cannot be used.
struct DriverStatus {
  DriverState state = DriverState::no_library;
  std::string library;   ///< the file that was opened, or tried: "libcuda.so.1"
  int cuda_version = 0;  ///< 1000 * major + 10 * minor of the driver's API; 0 when unknown
  int device_count = 0;
  std::string error_name;  ///< "CUDA_ERROR_NO_DEVICE"; empty without one
  std::string problem;     ///< one sentence; empty when ok
  std::string remedy;      ///< what to do about it; empty when ok

  [[nodiscard]] bool usable() const noexcept { return state == DriverState::ok; }
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

}  // namespace fatune::gpu
