#include "driver.hpp"

#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/headeronly/util/Exception.h>
#include <torch/headeronly/util/shim_utils.h>

// Only PyTorch's builds with CUDA have this function. Weak, so that this library also loads with
// the other builds.
extern "C" __attribute__((weak)) AOTITorchError aoti_torch_get_current_cuda_stream(
    std::int32_t device_index, void** stream);

namespace fatune_attention::torch_binding {
namespace {

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  STD_TORCH_CHECK(function != nullptr, "libcuda.so.1 has no ", name);
}

Driver load_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  STD_TORCH_CHECK(library != nullptr, "libcuda.so.1 cannot be loaded: ", dlerror());
  Driver loaded{};
  find(library, "cuCtxGetCurrent", loaded.context);
  find(library, "cuDevicePrimaryCtxRetain", loaded.primary_context);
  find(library, "cuCtxSetCurrent", loaded.set_context);
  find(library, "cuStreamIsCapturing", loaded.capture_status);
  find(library, "cuMemAlloc_v2", loaded.allocate);
  find(library, "cuMemFree_v2", loaded.free);
  find(library, "cuMemsetD8Async", loaded.clear);
  return loaded;
}

}  // namespace

const Driver& driver() {
  static const Driver loaded = load_driver();
  return loaded;
}

void check_driver(int status, const char* what) {
  STD_TORCH_CHECK(status == 0, what, " failed: CUDA error ", status);
}

void ensure_context(std::int32_t device_index) {
  void* context = nullptr;
  check_driver(driver().context(&context), "cuCtxGetCurrent");
  if (context != nullptr) {
    return;
  }
  check_driver(driver().primary_context(&context, device_index), "cuDevicePrimaryCtxRetain");
  check_driver(driver().set_context(context), "cuCtxSetCurrent");
}

void* current_stream(std::int32_t device_index) {
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device_index, &stream));
  return stream;
}

bool is_capturing(void* stream) {
  int status = 0;
  check_driver(driver().capture_status(stream, &status), "cuStreamIsCapturing");
  return status != 0;
}

}  // namespace fatune_attention::torch_binding
