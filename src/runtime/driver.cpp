#include "driver.hpp"

#include <dlfcn.h>

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

}  // namespace fatune_attention::detail
