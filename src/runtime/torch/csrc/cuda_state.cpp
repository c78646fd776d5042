#include "cuda_state.hpp"

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/headeronly/util/shim_utils.h>

#include "driver.hpp"

// Only PyTorch's builds with CUDA have this function. Weak, so that this library also loads with
// the other builds.
extern "C" __attribute__((weak)) AOTITorchError aoti_torch_get_current_cuda_stream(
    std::int32_t device_index, void** stream);

namespace fatune_attention::torch_binding {

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
