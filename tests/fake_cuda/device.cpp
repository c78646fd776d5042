// Start-up, devices, contexts, errors.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

#include "fake_cuda/script.hpp"
#include "fake_cuda/state.hpp"

namespace fake_cuda {

State& state() {
  static State the_state;
  return the_state;
}

LaunchHook& launch_hook() {
  static LaunchHook hook = nullptr;
  return hook;
}

CUresult gate(const char* function) {
  const CUresult scripted = scripted_failure(function);
  if (scripted != CUDA_SUCCESS) {
    return scripted;
  }
  if (!state().initialised) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  return state().context_error;
}

namespace {

int device_count() { return static_cast<int>(integer_setting("FATUNE_FAKE_DEVICES", 1)); }

std::size_t memory_bytes() {
  return static_cast<std::size_t>(integer_setting("FATUNE_FAKE_MEMORY_MIB", 1024)) << 20;
}

/// The name at the ordinal in FATUNE_FAKE_NAMES, or else FATUNE_FAKE_NAME.
std::string device_name(CUdevice device) {
  std::istringstream names(text_setting("FATUNE_FAKE_NAMES", ""));
  std::string name;
  for (CUdevice i = 0; std::getline(names, name, ','); ++i) {
    if (i == device) {
      return name;
    }
  }
  return text_setting("FATUNE_FAKE_NAME", "Fake H200");
}

/// An attribute of an H200, unless an environment variable changes it.
int attribute_value(CUdevice_attribute which) {
  static const std::map<int, int> values{
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 6291456},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144}};
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return compute_capability() / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return compute_capability() % 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      return static_cast<int>(integer_setting("FATUNE_FAKE_COMPUTE_MODE", 0));
    default: {
      const auto found = values.find(which);
      return found == values.end() ? 0 : found->second;
    }
  }
}

struct ErrorText {
  const char* name;
  const char* text;
};

const std::map<int, ErrorText>& error_texts() {
  static const std::map<int, ErrorText> texts{
      {CUDA_SUCCESS, {"CUDA_SUCCESS", "no error"}},
      {CUDA_ERROR_INVALID_VALUE, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
      {CUDA_ERROR_OUT_OF_MEMORY, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
      {CUDA_ERROR_NOT_INITIALIZED, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
      {CUDA_ERROR_NO_DEVICE, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
      {CUDA_ERROR_INVALID_DEVICE, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
      {CUDA_ERROR_INVALID_CONTEXT, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
      {CUDA_ERROR_INVALID_IMAGE, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
      {CUDA_ERROR_NOT_FOUND, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
      {CUDA_ERROR_ILLEGAL_ADDRESS,
       {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
      {CUDA_ERROR_MISALIGNED_ADDRESS, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
      {CUDA_ERROR_ASSERT, {"CUDA_ERROR_ASSERT", "device-side assert triggered"}},
      {CUDA_ERROR_LAUNCH_TIMEOUT,
       {"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"}},
      {CUDA_ERROR_NOT_SUPPORTED, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
      {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
       {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
      {CUDA_ERROR_LAUNCH_FAILED, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
      {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
       {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "system has unsupported display driver / cuda driver combination"}},
      {CUDA_ERROR_UNKNOWN, {"CUDA_ERROR_UNKNOWN", "unknown error"}}};
  return texts;
}

CUresult error_field(CUresult error, const char** field, const char* ErrorText::*which) {
  const auto found = error_texts().find(error);
  if (found == error_texts().end()) {
    *field = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
  }
  *field = found->second.*which;
  return CUDA_SUCCESS;
}

/// The object that a context handle points to.
struct FakeContext {
  CUdevice device = 0;
};

CUcontext context_of(CUdevice device) {
  static std::map<CUdevice, FakeContext> contexts;
  const std::lock_guard lock(state().mutex);
  return reinterpret_cast<CUcontext>(
      &contexts.try_emplace(device, FakeContext{device}).first->second);
}

/// The current context of the calling thread.
CUcontext& current_context() {
  thread_local CUcontext current = nullptr;
  return current;
}

bool known_device(CUdevice device) { return device >= 0 && device < device_count(); }

}  // namespace
}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

CUresult cuInit(unsigned) {
  const CUresult scripted = scripted_failure("cuInit");
  if (scripted == CUDA_SUCCESS) {
    state().initialised = true;
  }
  return scripted;
}

CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(integer_setting("FATUNE_FAKE_DRIVER_VERSION", 13000));
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  return error_field(error, name, &ErrorText::name);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (error == CUDA_ERROR_NOT_SUPPORTED && !state().why_not_run.empty()) {
    *text = state().why_not_run.c_str();
    return CUDA_SUCCESS;
  }
  return error_field(error, text, &ErrorText::text);
}

CUresult cuDeviceGetCount(int* count) {
  FAKE_GATE("cuDeviceGetCount");
  *count = device_count();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  FAKE_GATE("cuDeviceGetName");
  if (!known_device(device)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const std::string text = device_name(device);
  std::strncpy(name, text.c_str(), static_cast<std::size_t>(length) - 1);
  name[length - 1] = '\0';
  return CUDA_SUCCESS;
}

/// The UUID 00010203-0405-...: each byte is its own index, and the ordinal is added to the last
/// one.
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  FAKE_GATE("cuDeviceGetUuid");
  for (int i = 0; i < 16; ++i) {
    uuid->bytes[i] = static_cast<char>(i);
  }
  uuid->bytes[15] = static_cast<char>(15 + device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  FAKE_GATE("cuDeviceTotalMem");
  *bytes = memory_bytes();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  FAKE_GATE("cuDeviceGetAttribute");
  if (!known_device(device)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *value = attribute_value(which);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_GATE("cuDevicePrimaryCtxRetain");
  if (!known_device(device)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  ++state().live_objects;
  *context = context_of(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  --state().live_objects;
  FAKE_GATE("cuDevicePrimaryCtxRelease");
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_GATE("cuCtxSetCurrent");
  current_context() = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  FAKE_GATE("cuCtxGetDevice");
  if (current_context() == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *device = reinterpret_cast<const FakeContext*>(current_context())->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  FAKE_GATE("cuCtxSynchronize");
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() {
  FAKE_GATE("cuProfilerStart");
  state().profiling = true;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStop() {
  FAKE_GATE("cuProfilerStop");
  state().profiling = false;
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  FAKE_GATE("cuMemGetInfo");
  const std::lock_guard lock(state().mutex);
  std::size_t used = 0;
  for (const auto& [address, bytes] : state().device_memory) {
    used += bytes;
  }
  *total = memory_bytes();
  *free_bytes = *total - std::min(used, *total);
  return CUDA_SUCCESS;
}

void fatune_fake_reset() {
  state().context_error = CUDA_SUCCESS;
  state().launches = 0;
  state().profiled_launches = 0;
  state().clock_us = 0.0;
  launch_hook() = nullptr;
}

long long fatune_fake_live_objects() { return state().live_objects; }
long long fatune_fake_launches() { return state().launches; }
long long fatune_fake_profiled_launches() { return state().profiled_launches; }
const unsigned* fatune_fake_grid() { return state().grid.data(); }
void fatune_fake_on_launch(LaunchHook hook) { launch_hook() = hook; }

}  // extern "C"
