#include "gpu/context.hpp"

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

bool finished(CUresult result, const char* call) {
  if (result == CUDA_ERROR_NOT_READY) {
    return false;
  }
  check(result, call);
  return true;
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

bool Stream::done() const { return finished(api().cuStreamQuery(raw(*this)), "cuStreamQuery"); }

Event::Event() : event_(create_event()) {}

void Event::record(const Stream& stream) const {
  check(api().cuEventRecord(raw(*this), raw(stream)), "cuEventRecord");
}

void Event::synchronize() const {
  check(api().cuEventSynchronize(raw(*this)), "cuEventSynchronize");
}

bool Event::done() const { return finished(api().cuEventQuery(raw(*this)), "cuEventQuery"); }

double elapsed_ms(const Event& start, const Event& stop) {
  float ms = 0.0F;
  check(api().cuEventElapsedTime(&ms, raw(start), raw(stop)), "cuEventElapsedTime");
  return static_cast<double>(ms);
}

}  // namespace fatune::gpu
