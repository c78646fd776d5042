// GPU functions for the examples, from the driver's library that the kernel library loads.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "driver.hpp"

namespace example {

inline constexpr int kRight = 0;
inline constexpr int kWrong = 1;
inline constexpr int kNoGpu = 2;

[[noreturn]] inline void end_program(int code, const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(code);
}

inline bool has_function(const char* name) {
  return fatune_attention::detail::driver_function(name) != nullptr;
}

/// Returns the CUresult. The parameters' types must be exactly those of the function.
template <typename... Parameters>
int try_call(const char* name, Parameters... parameters) {
  using Function = int (*)(Parameters...);
  const auto function = reinterpret_cast<Function>(fatune_attention::detail::driver_function(name));
  return function == nullptr ? -1 : function(parameters...);
}

/// Ends the program if the call fails.
template <typename... Parameters>
void call(const char* name, Parameters... parameters) {
  if (const int error = try_call(name, parameters...); error != 0) {
    end_program(kWrong,
                std::string(name) + ": " + fatune_attention::detail::result_of(error).reason);
  }
}

/// Makes the GPU's context current in the calling thread. Ends the program if there is no GPU.
inline void use_gpu(int ordinal) {
  const fatune_attention::Result driver = fatune_attention::detail::driver().status;
  if (!driver) {
    end_program(kNoGpu, driver.reason);
  }
  int count = 0;
  if (try_call("cuInit", 0U) != 0 || try_call("cuDeviceGetCount", &count) != 0 ||
      ordinal >= count) {
    end_program(kNoGpu, "there is no GPU " + std::to_string(ordinal));
  }
  void* context = nullptr;
  call("cuDevicePrimaryCtxRetain", &context, ordinal);
  call("cuCtxSetCurrent", context);
}

inline void wait_for(void* stream) { call("cuStreamSynchronize", stream); }

/// A stream that does not wait for the default one.
class Stream {
 public:
  Stream() { call("cuStreamCreate", &stream_, 1U); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { try_call("cuStreamDestroy_v2", stream_); }

  void* get() const { return stream_; }

 private:
  void* stream_ = nullptr;
};

/// Device memory. Copies are complete when the functions return.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    call("cuMemAlloc_v2", &address_, bytes > 0 ? bytes : 1);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { try_call("cuMemFree_v2", address_); }

  void* data() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }

  void fill(std::uint8_t byte, void* stream) {
    call("cuMemsetD8Async", address_, byte, bytes_, stream);
  }
  /// Fills the memory with repetitions of the pattern.
  void fill(const std::vector<std::uint16_t>& pattern, void* stream) {
    const std::size_t period = pattern.size() * sizeof(std::uint16_t);
    for (std::size_t at = 0; at < bytes_; at += period) {
      const std::size_t part = bytes_ - at < period ? bytes_ - at : period;
      call("cuMemcpyHtoDAsync_v2", address_ + at, static_cast<const void*>(pattern.data()), part,
           stream);
    }
    wait_for(stream);
  }
  template <typename Item>
  std::vector<Item> read(void* stream) const {
    std::vector<Item> items(bytes_ / sizeof(Item));
    call("cuMemcpyDtoHAsync_v2", static_cast<void*>(items.data()), address_, bytes_, stream);
    wait_for(stream);
    return items;
  }

 private:
  std::uint64_t address_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace example
