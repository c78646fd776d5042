#include "devices.hpp"

#include <atomic>
#include <mutex>

#include "driver.hpp"

namespace fatune_attention::detail {
namespace {

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
