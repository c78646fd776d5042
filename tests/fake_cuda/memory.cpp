// Device and pinned memory. Both are host memory, and copies and fills are done at once.
#include <cuda.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <new>

#include "fake_cuda/script.hpp"
#include "fake_cuda/state.hpp"

using namespace fake_cuda;

namespace {

constexpr std::size_t kAlignment = 256;

void* allocate(std::size_t bytes) {
  return ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
}

void release(void* memory) { ::operator delete (memory, std::align_val_t{kAlignment}); }

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  FAKE_GATE("cuMemAlloc");
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (const CUresult result = cuMemGetInfo(&free_bytes, &total_bytes); result != CUDA_SUCCESS) {
    return result;
  }
  void* memory = bytes == 0 || bytes > free_bytes ? nullptr : allocate(bytes);
  if (memory == nullptr) {
    return bytes == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::lock_guard lock(state().mutex);
  state().device_memory[memory] = bytes;
  ++state().live_objects;
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
  {
    const std::lock_guard lock(state().mutex);
    if (state().device_memory.erase(host(address)) == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    --state().live_objects;
    release(host(address));
  }
  FAKE_GATE("cuMemFree");
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  FAKE_GATE("cuMemHostAlloc");
  *address = bytes == 0 ? nullptr : allocate(bytes);
  if (*address == nullptr) {
    return bytes == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
  }
  ++state().live_objects;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* address) {
  --state().live_objects;
  release(address);
  FAKE_GATE("cuMemFreeHost");
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned) {
  FAKE_GATE("cuMemHostGetDevicePointer");
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, std::size_t bytes, CUstream) {
  FAKE_GATE("cuMemsetD8Async");
  std::memset(host(target), value, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, std::size_t words, CUstream) {
  FAKE_GATE("cuMemsetD32Async");
  static_assert(sizeof(wchar_t) == 4);
  std::wmemset(static_cast<wchar_t*>(host(target)), static_cast<wchar_t>(value), words);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void* source, std::size_t bytes, CUstream) {
  FAKE_GATE("cuMemcpyHtoDAsync");
  std::memcpy(host(target), source, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void* target, CUdeviceptr source, std::size_t bytes, CUstream) {
  FAKE_GATE("cuMemcpyDtoHAsync");
  std::memcpy(target, host(source), bytes);
  return CUDA_SUCCESS;
}

}  // extern "C"
