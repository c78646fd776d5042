#include "gpu/context.hpp"

#include <cstring>

#include <fmt/format.h>

#include "gpu/cuda_api.hpp"

namespace fatune::gpu {
namespace {

void* retain_primary_context(int device) {
  CUcontext context = nullptr;
  check(api().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  return context;
}

void* create_stream() {
  CUstream stream = nullptr;
  check(api().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

void* create_event() {
  CUevent event = nullptr;
  check(api().cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
  return event;
}

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

void release_primary_context(int device) noexcept {
  log_failed_release(api().cuDevicePrimaryCtxRelease(device), "cuDevicePrimaryCtxRelease");
}

void destroy_stream(void* stream) noexcept {
  log_failed_release(api().cuStreamDestroy(static_cast<CUstream>(stream)), "cuStreamDestroy");
}

void destroy_event(void* event) noexcept {
  log_failed_release(api().cuEventDestroy(static_cast<CUevent>(event)), "cuEventDestroy");
}

Context::Context(int device_ordinal)
    : context_(retain_primary_context(device_ordinal)), device_(device_ordinal) {
  make_current();
}

void Context::make_current() const {
  check(api().cuCtxSetCurrent(static_cast<CUcontext>(context_)), "cuCtxSetCurrent");
}

void Context::synchronize() const {
  make_current();
  check(api().cuCtxSynchronize(), "cuCtxSynchronize");
}

MemoryInfo Context::memory() const {
  make_current();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(api().cuMemGetInfo(&free_bytes, &total_bytes), "cuMemGetInfo");
  return {static_cast<std::int64_t>(free_bytes), static_cast<std::int64_t>(total_bytes)};
}

Stream::Stream() : stream_(create_stream()) {}

void Stream::synchronize() const {
  check(api().cuStreamSynchronize(raw(*this)), "cuStreamSynchronize");
}

Event::Event() : event_(create_event()) {}

void Event::record(const Stream& stream) const {
  check(api().cuEventRecord(raw(*this), raw(stream)), "cuEventRecord");
}

void Event::synchronize() const {
  check(api().cuEventSynchronize(raw(*this)), "cuEventSynchronize");
}

double elapsed_ms(const Event& start, const Event& stop) {
  float ms = 0.0F;
  check(api().cuEventElapsedTime(&ms, raw(start), raw(stop)), "cuEventElapsedTime");
  return static_cast<double>(ms);
}

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
