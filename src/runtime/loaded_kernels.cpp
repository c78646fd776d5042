#include "loaded_kernels.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "driver.hpp"

namespace fatune_attention::detail {
namespace {

constexpr std::uint64_t kMostPortableCluster = 8;  // blocks

struct LoadedKernel {
  std::atomic<void*> handle{nullptr};
  std::atomic<int> settings[kMostDevices] = {};  ///< settings_of() the last shape; 0: none
};

/// One for each kernel of the table. Null: out of memory.
LoadedKernel* loaded_kernels() {
  static LoadedKernel* const all =
      new (std::nothrow) LoadedKernel[static_cast<std::size_t>(kTable.kernels.count)];
  return all;
}

/// The settings that a launch needs, as a number that is not 0.
int settings_of(const LaunchShape& shape) {
  return 2 * (shape.smem_carveout_percent + 2) +
         (shape.cluster.volume() > kMostPortableCluster ? 1 : 0);
}

Result set(int attribute, std::int64_t value, void* kernel, int device) {
  return result_of(
      driver().cuKernelSetAttribute(attribute, static_cast<int>(value), kernel, device));
}

/// Allows as much shared memory as the device has for a block. Launches say how much of it they
/// use.
Result apply(const MachineCode& code, const CurrentDevice& on, const LaunchShape& shape,
             void* kernel) {
  const std::int64_t most_smem = on.facts->smem_per_block_optin_bytes - code.static_smem_bytes;
  const int carveout = shape.smem_carveout_percent < 0 ? 100 : shape.smem_carveout_percent;
  Result result = set(cuda::kMaxDynamicSmemBytes, most_smem, kernel, on.ordinal);
  if (result) {
    result = set(cuda::kPreferredSmemCarveout, carveout, kernel, on.ordinal);
  }
  if (result && shape.cluster.volume() > kMostPortableCluster) {
    result = set(cuda::kNonPortableClusterSizeAllowed, 1, kernel, on.ordinal);
  }
  return result;
}

Result load(const MachineCode& code, std::atomic<void*>& handle) {
  void* library = nullptr;
  void* kernel = nullptr;
  Result result = result_of(
      driver().cuLibraryLoadData(&library, code.cubin, nullptr, nullptr, 0, nullptr, nullptr, 0));
  if (result) {
    result = result_of(driver().cuLibraryGetKernel(&kernel, library, code.entry));
  }
  if (result) {
    handle.store(kernel, std::memory_order_release);
  }
  return result;
}

/// Loads the kernel, unless it is loaded, and applies the settings for launches of this shape.
Result set_up(const MachineCode& code, const CurrentDevice& on, const LaunchShape& shape,
              LoadedKernel& kernel) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  Result result;
  if (kernel.handle.load(std::memory_order_relaxed) == nullptr) {
    result = load(code, kernel.handle);
  }
  if (result) {
    result = apply(code, on, shape, kernel.handle.load(std::memory_order_relaxed));
  }
  if (result) {
    kernel.settings[on.ordinal].store(settings_of(shape), std::memory_order_release);
  }
  return result;
}

}  // namespace

Result prepare_kernel(int index, const CurrentDevice& on, const LaunchShape& shape, void*& handle) {
  if (loaded_kernels() == nullptr) {
    return {Status::driver_error, "there is no memory for the kernels' handles"};
  }
  LoadedKernel& kernel = loaded_kernels()[index];
  Result result;
  if (kernel.settings[on.ordinal].load(std::memory_order_acquire) != settings_of(shape)) {
    result = set_up(kTable.kernels[index], on, shape, kernel);
  }
  handle = kernel.handle.load(std::memory_order_acquire);
  return result;
}

Result load_code(void* handle) {
  void* function = nullptr;
  const Result result = result_of(driver().cuKernelGetFunction(&function, handle));
  return result && driver().cuFuncLoad != nullptr ? result_of(driver().cuFuncLoad(function))
                                                  : result;
}

}  // namespace fatune_attention::detail
