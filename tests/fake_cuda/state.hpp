#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace fake_cuda {

/// The only fake machine of the process.
struct State {
  std::mutex mutex;
  std::map<void*, std::size_t> device_memory;  ///< live buffers and their bytes
  std::atomic<long long> live_objects{0};
  std::atomic<long long> launches{0};
  std::atomic<long long> profiled_launches{0};  ///< between profiler start and stop
  std::atomic<bool> profiling{false};
  std::atomic<CUresult> context_error{CUDA_SUCCESS};  ///< set by a kernel that killed the context
  std::atomic<double> clock_us{0.0};                  ///< device time: launches advance it
  std::array<unsigned, 3> grid{};                     ///< of the last launch
  std::string why_not_run;  ///< why a kernel was not run: the text of CUDA_ERROR_NOT_SUPPORTED
  bool initialised = false;
};

[[nodiscard]] State& state();

/// Returns the error with which a call must end before it does anything: the scripted error, or
/// else that of the dead context.
[[nodiscard]] CUresult gate(const char* function);

using LaunchHook = void (*)(const char* kernel, void** arguments);
[[nodiscard]] LaunchHook& launch_hook();

}  // namespace fake_cuda

/// Returns from the function if it is scripted to fail. Uses the unversioned name.
#define FAKE_GATE(function) \
  if (const CUresult scripted = fake_cuda::gate(function); scripted != CUDA_SUCCESS) return scripted
