// Replaces NVRTC (FATUNE_NVRTC), and attaches a kernel's PTX to its machine code
// (attached_ptx.hpp). The other functions are those of NVRTC, with which it is linked.
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstring>
#include <string>

#include "fake_cuda/attached_ptx.hpp"

using namespace fake_cuda;

namespace {

// Opened while this library is loaded: processes that compile can open no file later.
void* const nvrtc = dlopen(FATUNE_REAL_NVRTC, RTLD_NOW | RTLD_LOCAL);

/// NVRTC's own function.
template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(nvrtc, name));
}

std::size_t cubin_bytes(nvrtcProgram program) {
  std::size_t bytes = 0;
  static auto* const get = real<decltype(nvrtcGetCUBINSize)>("nvrtcGetCUBINSize");
  return get(program, &bytes) == NVRTC_SUCCESS ? bytes : 0;
}

/// Returns an empty text if there is no PTX.
std::string ptx_of(nvrtcProgram program) {
  static auto* const get_size = real<decltype(nvrtcGetPTXSize)>("nvrtcGetPTXSize");
  static auto* const get = real<decltype(nvrtcGetPTX)>("nvrtcGetPTX");
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
  static auto* const get = real<decltype(nvrtcGetCUBIN)>("nvrtcGetCUBIN");
  const nvrtcResult result = get(program, cubin);
  if (result == NVRTC_SUCCESS) {
    const std::string behind = attach_ptx(reinterpret_cast<unsigned char*>(cubin), ptx_of(program));
    std::memcpy(cubin + cubin_bytes(program), behind.data(), behind.size());
  }
  return result;
}

}  // extern "C"
