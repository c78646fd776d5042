#include "driver.hpp"

#include <dlfcn.h>
#include <atomic>
#include <mutex>

namespace fatune_attention::detail {
namespace {

constexpr int kOldestCuda = 12000;  // for libraries of kernels and tensor maps

constexpr Result kNoLibrary{Status::no_driver,
                            "libcuda.so.1 cannot be loaded: install the NVIDIA driver (in a "
                            "container: start it with --gpus all)"};
constexpr Result kTooOld{Status::no_driver,
                         "the NVIDIA driver is older than CUDA 12.0: update the driver"};
constexpr Result kNoContext{Status::no_context,
                            "no CUDA context is current in this thread: call cudaSetDevice() or "
                            "cuCtxSetCurrent() first"};
constexpr Result kOtherArchitecture{
    Status::unsupported, "the driver reports that the kernel's machine code is not for this GPU"};

void* library() {
  static void* const opened = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return opened;
}

template <typename Function>
bool find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(driver_function(name));
  return function != nullptr;
}

bool find_all(Driver& driver) {
  bool has_all = true;
#define FATUNE_ATTENTION_FIND(name, type) has_all = find(#name, driver.name) && has_all;
  FATUNE_ATTENTION_DRIVER_FUNCTIONS(FATUNE_ATTENTION_FIND)
#undef FATUNE_ATTENTION_FIND
  find("cuFuncLoad", driver.cuFuncLoad);
  return has_all;
}

bool is_new_enough(const Driver& driver) {
  int version = 0;
  return driver.cuDriverGetVersion(&version) == cuda::kSuccess && version >= kOldestCuda;
}

Driver load_driver() {
  Driver driver;
  if (library() == nullptr) {
    driver.status = kNoLibrary;
  } else if (!find_all(driver) || !is_new_enough(driver)) {
    driver.status = kTooOld;
  }
  return driver;
}

const char* error_name(int error) {
  const char* name = nullptr;
  const bool is_known = driver().cuGetErrorName(error, &name) == cuda::kSuccess && name != nullptr;
  return is_known ? name : "an error that the driver has no name for";
}

struct KnownDevice {
  std::atomic<bool> is_known{false};
  Device facts;
};

KnownDevice& known_device(int ordinal) {
  static KnownDevice devices[kMostDevices];
  return devices[ordinal];
}

/// Reads attributes of a device, and keeps the first error.
class DeviceAttributes {
 public:
  explicit DeviceAttributes(int device) : device_(device) {}

  int value(int attribute) {
    int value = 0;
    const int error = driver().cuDeviceGetAttribute(&value, attribute, device_);
    error_ = error_ == cuda::kSuccess ? error : error_;
    return value;
  }
  int error() const { return error_; }

 private:
  int device_;
  int error_ = cuda::kSuccess;
};

Result read_facts(int ordinal, Device& facts) {
  DeviceAttributes attributes(ordinal);
  facts.arch = 10 * attributes.value(cuda::kComputeCapabilityMajor) +
               attributes.value(cuda::kComputeCapabilityMinor);
  facts.sm_count = attributes.value(cuda::kMultiprocessorCount);
  facts.max_threads_per_block = attributes.value(cuda::kMaxThreadsPerBlock);
  facts.max_threads_per_sm = attributes.value(cuda::kMaxThreadsPerMultiprocessor);
  facts.registers_per_sm = attributes.value(cuda::kMaxRegistersPerMultiprocessor);
  facts.smem_per_block_optin_bytes = attributes.value(cuda::kMaxSmemPerBlockOptin);
  facts.smem_per_sm_bytes = attributes.value(cuda::kMaxSmemPerMultiprocessor);
  if (attributes.error() != cuda::kSuccess) {
    return result_of(attributes.error());
  }
  return result_of(driver().cuDeviceGetName(facts.name, sizeof facts.name, ordinal));
}

Result learn(int ordinal, KnownDevice& device) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (device.is_known.load(std::memory_order_relaxed)) {
    return {};
  }
  const Result result = read_facts(ordinal, device.facts);
  device.is_known.store(static_cast<bool>(result), std::memory_order_release);
  return result;
}

}  // namespace

const Driver& driver() {
  static const Driver loaded = load_driver();
  return loaded;
}

void* driver_function(const char* name) {
  return library() == nullptr ? nullptr : dlsym(library(), name);
}

Result result_of(int error) {
  switch (error) {
    case cuda::kSuccess:
      return {};
    case cuda::kNotInitialized:
    case cuda::kInvalidContext:
      return kNoContext;
    case cuda::kNoBinaryForGpu:
      return kOtherArchitecture;
    default:
      return {Status::driver_error, error_name(error)};
  }
}

Result find_current_device(CurrentDevice& current) {
  if (!driver().status) {
    return driver().status;
  }
  if (const Result found = result_of(driver().cuCtxGetDevice(&current.ordinal)); !found) {
    return found;
  }
  if (current.ordinal < 0 || current.ordinal >= kMostDevices) {
    return {Status::unsupported, "the GPU is not among the first 64 of this machine"};
  }
  KnownDevice& device = known_device(current.ordinal);
  current.facts = &device.facts;
  return device.is_known.load(std::memory_order_acquire) ? Result{}
                                                         : learn(current.ordinal, device);
}

}  // namespace fatune_attention::detail
