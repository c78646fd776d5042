#include "gpu/memory.hpp"

#include <fmt/format.h>

#include <cstring>

#include "gpu/cuda_api.hpp"
#include "gpu/driver.hpp"

namespace fatune::gpu {
namespace {

std::size_t checked_size(std::int64_t size) {
  if (size < 0) {
    throw Error(ExitCode::internal, fmt::format("a negative memory size: {}", size));
  }
  return static_cast<std::size_t>(size);
}

DevicePtr allocate_device(std::int64_t bytes) {
  CUdeviceptr address = 0;
  if (bytes != 0) {
    check(api().cuMemAlloc(&address, checked_size(bytes)), "cuMemAlloc");
  }
  return address;
}

void* allocate_host(std::int64_t bytes) {
  void* address = nullptr;
  check(api().cuMemHostAlloc(&address, checked_size(bytes),
                             CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
        "cuMemHostAlloc");
  return address;
}

DevicePtr mapped_address(void* host) {
  CUdeviceptr address = 0;
  check(api().cuMemHostGetDevicePointer(&address, host, 0), "cuMemHostGetDevicePointer");
  return address;
}

}  // namespace

void free_device_memory(DevicePtr address) noexcept {
  log_failed_release(api().cuMemFree(address), "cuMemFree");
}

void free_host_memory(void* address) noexcept {
  log_failed_release(api().cuMemFreeHost(address), "cuMemFreeHost");
}

DeviceBuffer::DeviceBuffer(std::int64_t bytes) : address_(allocate_device(bytes)), bytes_(bytes) {}

PinnedBuffer::PinnedBuffer(std::int64_t bytes)
    : host_(allocate_host(bytes)), address_(mapped_address(host_.get())), bytes_(bytes) {
  std::memset(host_.get(), 0, checked_size(bytes));
}

void fill_bytes_async(DevicePtr target, std::uint8_t value, std::int64_t bytes,
                      const Stream& stream) {
  check(api().cuMemsetD8Async(target, value, checked_size(bytes), raw(stream)), "cuMemsetD8Async");
}

void fill_words_async(DevicePtr target, std::uint32_t value, std::int64_t words,
                      const Stream& stream) {
  check(api().cuMemsetD32Async(target, value, checked_size(words), raw(stream)),
        "cuMemsetD32Async");
}

void copy_to_device_async(DevicePtr target, const void* source, std::int64_t bytes,
                          const Stream& stream) {
  check(api().cuMemcpyHtoDAsync(target, source, checked_size(bytes), raw(stream)),
        "cuMemcpyHtoDAsync");
}

void copy_to_host_async(void* target, DevicePtr source, std::int64_t bytes, const Stream& stream) {
  check(api().cuMemcpyDtoHAsync(target, source, checked_size(bytes), raw(stream)),
        "cuMemcpyDtoHAsync");
}

}  // namespace fatune::gpu
