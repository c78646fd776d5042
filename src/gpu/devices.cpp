#include "gpu/devices.hpp"

#include <fmt/format.h>

#include <array>

#include "gpu/cuda_api.hpp"
#include "gpu/driver.hpp"

namespace fatune::gpu {
namespace {

constexpr int kLowestSm = 80;  // cp.async and bf16 mma

int attribute(int device, CUdevice_attribute which) {
  int value = 0;
  check(api().cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

std::string device_name(int device) {
  std::array<char, 256> name{};
  check(api().cuDeviceGetName(name.data(), static_cast<int>(name.size()), device),
        "cuDeviceGetName");
  return name.data();
}

/// The UUID as nvidia-smi prints it: 8-4-4-4-12 hexadecimal digits.
std::string device_uuid(int device) {
  CUuuid uuid{};
  check(api().cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

Arch device_arch(int device) {
  const int sm = 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                 attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return {sm, sm >= kFirstSuffixSm ? 'a' : '\0'};
}

std::int64_t total_memory_bytes(int device) {
  std::size_t bytes = 0;
  check(api().cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  return static_cast<std::int64_t>(bytes);
}

/// The peak bandwidth: two transfers per memory clock over the whole bus.
double memory_gbps(int device) {
  const double clock_khz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const double bus_bits = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  return 2.0 * clock_khz * 1e3 * bus_bits / 8.0 / 1e9;
}

DeviceLimits read_limits(int device) {
  DeviceLimits limits;
  limits.name = device_name(device);
  limits.uuid = device_uuid(device);
  limits.arch = device_arch(device);
  limits.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits.max_threads_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.max_threads_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits.max_blocks_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  limits.registers_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits.registers_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  limits.smem_per_block_optin_bytes =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  limits.smem_per_sm_bytes =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits.smem_reserved_per_block_bytes =
      attribute(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  limits.l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  limits.total_memory_bytes = total_memory_bytes(device);
  limits.clock_khz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  limits.memory_gbps = memory_gbps(device);
  return limits;
}

void judge(Device& device) {
  if (device.limits.arch.sm < kLowestSm) {
    device.unusable_because = fmt::format("compute capability {}.{} is below 8.0",
                                          device.limits.arch.sm / 10, device.limits.arch.sm % 10);
    device.remedy = "use a GPU of the Ampere generation or newer";
  } else if (attribute(device.ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) ==
             CU_COMPUTEMODE_PROHIBITED) {
    device.unusable_because = "its compute mode is prohibited: no process may use it";
    device.remedy =
        fmt::format("ask the administrator to run nvidia-smi -i {} -c DEFAULT", device.limits.uuid);
  }
}

Device read_device(int ordinal) {
  Device device;
  device.ordinal = ordinal;
  device.limits = read_limits(ordinal);
  judge(device);
  return device;
}

int device_count() {
  static_cast<void>(api());
  return probe_driver().device_count;
}

}  // namespace

std::vector<Device> list_devices() {
  std::vector<Device> devices;
  const int count = device_count();
  devices.reserve(static_cast<std::size_t>(count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    devices.push_back(read_device(ordinal));
  }
  return devices;
}

Device describe_device(int ordinal) {
  const int count = device_count();
  if (ordinal < 0 || ordinal >= count) {
    throw Error(ExitCode::usage, fmt::format("there is no GPU {}", ordinal), {},
                fmt::format("this machine has GPU 0 to {}; fatune devices lists them", count - 1));
  }
  return read_device(ordinal);
}

}  // namespace fatune::gpu
