#include "gpu/driver.hpp"

#include <array>
#include <ranges>
#include <string_view>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/environment.hpp"
#include "base/ranges.hpp"
#include "gpu/cuda_api.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune::gpu {
namespace {

constexpr const char* kDefaultDriver = "libcuda.so.1";
constexpr const char* kDriverVariable = "FATUNE_LIBCUDA";

struct Driver {
  DriverApi api;
  DriverStatus status;
};

std::string version_text(int cuda_version) {
  return fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

void fail(DriverStatus& status, std::string problem, std::string remedy) {
  status.problem = std::move(problem);
  status.remedy = std::move(remedy);
}

std::string library_remedy(bool chosen_by_user) {
  return chosen_by_user
             ? fmt::format("set {} to the driver's libcuda.so.1, or unset it", kDriverVariable)
             : "install the NVIDIA driver (in a container: start it with the NVIDIA runtime, "
               "--gpus all); planning and compiling work without it";
}

void* open_library(DriverStatus& status) {
  const auto chosen = environment_variable(kDriverVariable);
  status.library = chosen.value_or(kDefaultDriver);
  void* library = dlopen(status.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail(status,
         fmt::format("the CUDA driver library cannot be loaded: {}", loader_says(status.library)),
         library_remedy(chosen.has_value()));
  }
  return library;
}

/// Fills `api`. Returns the name of the first required function that the library lacks; empty if it
/// has all.
std::string find_functions(void* library, DriverApi& api) {
  std::string missing;
  std::string ignored;
#define FATUNE_TEXT(name) #name
#define FATUNE_FIND(name) find_function(library, FATUNE_TEXT(name), api.name, missing);
#define FATUNE_FIND_OPTIONAL(name) find_function(library, FATUNE_TEXT(name), api.name, ignored);
  FATUNE_DRIVER_FUNCTIONS(FATUNE_FIND)
  FATUNE_OPTIONAL_DRIVER_FUNCTIONS(FATUNE_FIND_OPTIONAL)
#undef FATUNE_FIND_OPTIONAL
#undef FATUNE_FIND
#undef FATUNE_TEXT
  return missing;
}

/// The lowest version that the driver must be for. Machine code of a newer major version of CUDA
/// does not load in an older driver. The oldest NVRTC that fatune accepts is that of CUDA 12.
int lowest_cuda_version() { return probe_nvrtc().usable() ? nvrtc_version().major * 1000 : 12000; }

bool new_enough(const DriverApi& api, const std::string& missing, DriverStatus& status) {
  if (api.cuDriverGetVersion != nullptr) {
    api.cuDriverGetVersion(&status.cuda_version);
  }
  if (missing.empty() && status.cuda_version >= lowest_cuda_version()) {
    return true;
  }
  const std::string remedy = fmt::format(
      "update the NVIDIA driver to one for CUDA {} or newer, or give fatune an older NVRTC (pip "
      "install "
      "nvidia-cuda-nvrtc-cu12, or CUDA_HOME)",
      version_text(lowest_cuda_version()));
  const std::string found = status.cuda_version == 0 ? std::string("of unknown version")
                                                     : "for CUDA " + status.version_text();
  fail(status,
       fmt::format("the driver is {}, too old for machine code of CUDA {}{}", found,
                   version_text(lowest_cuda_version()),
                   missing.empty() ? "" : ": it has no " + missing),
       remedy);
  return false;
}

struct InitRemedy {
  CUresult result;
  const char* text;
};

constexpr const char* kNoDeviceRemedy =
    "check that nvidia-smi lists a GPU, that CUDA_VISIBLE_DEVICES does not hide it, and that a "
    "container was given it (--gpus all)";

constexpr InitRemedy kInitRemedies[] = {
    {CUDA_ERROR_NO_DEVICE, kNoDeviceRemedy},
    {CUDA_ERROR_INVALID_DEVICE, kNoDeviceRemedy},
    {CUDA_ERROR_STUB_LIBRARY,
     "take the CUDA toolkit's stubs folder out of LD_LIBRARY_PATH: it hides the real driver"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
     "restart the machine: the loaded kernel module and the driver library differ in version"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
     "take the CUDA forward-compatibility package out of LD_LIBRARY_PATH, or update the driver"},
    {CUDA_ERROR_SYSTEM_NOT_READY,
     "start the services the system needs (on NVSwitch machines: nvidia-fabricmanager)"},
    {CUDA_ERROR_OPERATING_SYSTEM, "check the permissions of /dev/nvidia*"},
};

std::string init_remedy(CUresult result) {
  const InitRemedy* const known = find_in(kInitRemedies, result, &InitRemedy::result);
  return known != nullptr
             ? known->text
             : "check that nvidia-smi works and that /dev/nvidia-uvm exists (nvidia-modprobe -u)";
}

std::string error_name(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  return api.cuGetErrorName != nullptr && api.cuGetErrorName(result, &name) == CUDA_SUCCESS
             ? name
             : fmt::format("CUresult {}", static_cast<int>(result));
}

std::string error_text(const DriverApi& api, CUresult result) {
  const char* text = nullptr;
  return api.cuGetErrorString != nullptr && api.cuGetErrorString(result, &text) == CUDA_SUCCESS
             ? text
             : "unknown error";
}

void initialise(const DriverApi& api, DriverStatus& status) {
  CUresult result = api.cuInit(0);
  const char* call = "cuInit";
  if (result == CUDA_SUCCESS) {
    result = api.cuDeviceGetCount(&status.device_count);
    call = "cuDeviceGetCount";
  }
  if (result == CUDA_SUCCESS && status.device_count == 0) {
    result = CUDA_ERROR_NO_DEVICE;
  }
  if (result == CUDA_SUCCESS) {
    return;
  }
  status.error_name = error_name(api, result);
  if (result == CUDA_ERROR_NO_DEVICE) {
    fail(status, "the driver sees no GPU", init_remedy(result));
  } else {
    fail(status,
         fmt::format("the driver does not start: {} failed with {} ({})", call, status.error_name,
                     error_text(api, result)),
         init_remedy(result));
  }
}

Driver load_driver() {
  Driver driver;
  void* library = open_library(driver.status);
  if (library == nullptr) {
    return driver;
  }
  const std::string missing = find_functions(library, driver.api);
  if (new_enough(driver.api, missing, driver.status)) {
    initialise(driver.api, driver.status);
  }
  return driver;
}

const Driver& the_driver() {
  static const Driver driver = load_driver();
  return driver;
}

bool kills_context(CUresult result) {
  constexpr CUresult kDeadly[] = {CUDA_ERROR_ILLEGAL_ADDRESS,
                                  CUDA_ERROR_LAUNCH_TIMEOUT,
                                  CUDA_ERROR_ASSERT,
                                  CUDA_ERROR_HARDWARE_STACK_ERROR,
                                  CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                  CUDA_ERROR_MISALIGNED_ADDRESS,
                                  CUDA_ERROR_INVALID_ADDRESS_SPACE,
                                  CUDA_ERROR_INVALID_PC,
                                  CUDA_ERROR_LAUNCH_FAILED,
                                  CUDA_ERROR_ECC_UNCORRECTABLE,
                                  CUDA_ERROR_CONTEXT_IS_DESTROYED,
                                  CUDA_ERROR_UNKNOWN};
  return is_among(result, kDeadly);
}

std::string describe(int result, const std::string& call) {
  const auto code = static_cast<CUresult>(result);
  return fmt::format("{} failed: {} ({})", call, error_name(the_driver().api, code),
                     error_text(the_driver().api, code));
}

std::string location(std::source_location where) {
  const std::string_view path = where.file_name();
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), where.line());
}

std::string remedy_of_driver_error(int result) {
  return kills_context(static_cast<CUresult>(result))
             ? "the GPU context is lost; only a new process can use the GPU again"
             : "";
}

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

std::string DriverStatus::version_text() const {
  return cuda_version == 0 ? std::string() : gpu::version_text(cuda_version);
}

const DriverStatus& probe_driver() { return the_driver().status; }

DriverError::DriverError(int result, const std::string& call, std::source_location where)
    : Error(ExitCode::gpu_failure, describe(result, call), location(where),
            remedy_of_driver_error(result)),
      result_(result),
      call_(call),
      name_(error_name(the_driver().api, static_cast<CUresult>(result))),
      text_(error_text(the_driver().api, static_cast<CUresult>(result))) {}

bool DriverError::sticky() const noexcept { return kills_context(static_cast<CUresult>(result_)); }

bool DriverError::out_of_memory() const noexcept { return result_ == CUDA_ERROR_OUT_OF_MEMORY; }

const DriverApi& api() {
  const Driver& driver = the_driver();
  if (!driver.status.usable()) {
    throw Error(ExitCode::no_gpu, driver.status.problem, {}, driver.status.remedy);
  }
  return driver.api;
}

void check(CUresult result, const char* call, std::source_location where) {
  if (result != CUDA_SUCCESS) {
    throw DriverError(result, call, where);
  }
}

void log_failed_release(CUresult result, const char* call) noexcept {
  if (result == CUDA_SUCCESS) {
    return;
  }
  const bool expected = kills_context(result) || result == CUDA_ERROR_DEINITIALIZED;
  spdlog::log(expected ? spdlog::level::debug : spdlog::level::warn, "{}", describe(result, call));
}

std::vector<Device> list_devices() {
  return mapped(std::views::iota(0, device_count()), read_device);
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
