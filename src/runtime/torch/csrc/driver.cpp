#include "driver.hpp"

#include <dlfcn.h>
#include <torch/headeronly/util/Exception.h>

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

}  // namespace fatune_attention::torch_binding
