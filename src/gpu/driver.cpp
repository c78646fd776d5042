#include "gpu/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string_view>

#include "base/environment.hpp"
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

void fail(DriverStatus& status, DriverState state, std::string problem, std::string remedy) {
  status.state = state;
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
    const char* reason = dlerror();
    fail(status, DriverState::no_library,
         fmt::format("the CUDA driver library cannot be loaded: {}",
                     reason == nullptr ? status.library : reason),
         library_remedy(chosen.has_value()));
  }
  return library;
}

template <typename Function>
void find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

/// Fills `api`. Returns the name of the first required function that the library lacks; empty if it
/// has all.
std::string find_functions(void* library, DriverApi& api) {
  std::string missing;
#define FATUNE_TEXT(name) #name
#define FATUNE_FIND(name)                              \
  find_function(library, FATUNE_TEXT(name), api.name); \
  if (api.name == nullptr && missing.empty()) {        \
    missing = FATUNE_TEXT(name);                       \
  }
#define FATUNE_FIND_OPTIONAL(name) find_function(library, FATUNE_TEXT(name), api.name);
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
  fail(status, DriverState::too_old,
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
  for (const InitRemedy& known : kInitRemedies) {
    if (known.result == result) {
      return known.text;
    }
  }
  return "check that nvidia-smi works and that /dev/nvidia-uvm exists (nvidia-modprobe -u)";
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
    status.state = DriverState::ok;
    return;
  }
  status.error_name = error_name(api, result);
  if (result == CUDA_ERROR_NO_DEVICE) {
    fail(status, DriverState::no_device, "the driver sees no GPU", init_remedy(result));
  } else {
    fail(status, DriverState::init_failed,
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
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
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

}  // namespace fatune::gpu
