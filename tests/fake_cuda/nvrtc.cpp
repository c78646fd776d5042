// Preloaded before NVRTC, leaves a kernel's PTX behind its machine code: attached_ptx.hpp.
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstring>
#include <string>

#include "fake_cuda/attached_ptx.hpp"

using namespace fake_cuda;

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::size_t cubin_bytes(nvrtcProgram program) {
  std::size_t bytes = 0;
  static auto* const get = next<decltype(nvrtcGetCUBINSize)>("nvrtcGetCUBINSize");
  return get(program, &bytes) == NVRTC_SUCCESS ? bytes : 0;
}

/// Empty: there is none.
std::string ptx_of(nvrtcProgram program) {
  static auto* const get_size = next<decltype(nvrtcGetPTXSize)>("nvrtcGetPTXSize");
  static auto* const get = next<decltype(nvrtcGetPTX)>("nvrtcGetPTX");
  std::size_t bytes = 0;
  if (get_size(program, &bytes) != NVRTC_SUCCESS) {
    return {};
  }
  std::string ptx(bytes, '\0');
  return get(program, ptx.data()) == NVRTC_SUCCESS ? ptx.c_str() : std::string{};
}

}  // namespace

extern "C" {

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* bytes) {
  const std::size_t image = cubin_bytes(program);
  *bytes = image == 0 ? 0 : image + attached_bytes(ptx_of(program));
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  static auto* const get = next<decltype(nvrtcGetCUBIN)>("nvrtcGetCUBIN");
  const nvrtcResult result = get(program, cubin);
  if (result == NVRTC_SUCCESS) {
    const std::string behind = attach_ptx(reinterpret_cast<unsigned char*>(cubin), ptx_of(program));
    std::memcpy(cubin + cubin_bytes(program), behind.data(), behind.size());
  }
  return result;
}

}  // extern "C"
