#pragma once

#include <bit>
#include <cstdint>

#include "gpu/context.hpp"
#include "gpu/handle.hpp"

namespace fatune::gpu {

using DevicePtr = std::uint64_t;  ///< a device address; 0 is null

void free_device_memory(DevicePtr address) noexcept;
void free_host_memory(void* address) noexcept;

/// Device memory of the current context, 256-byte aligned, not initialised. Throws DriverError
/// (out_of_memory() says whether memory ran out). A buffer of 0 bytes holds nothing and has address
/// 0.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t bytes);

  [[nodiscard]] DevicePtr address() const noexcept { return address_.get(); }
  [[nodiscard]] std::int64_t bytes() const noexcept { return address_ ? bytes_ : 0; }
  /// The address as a pointer for a kernel argument; must not be dereferenced on the host.
  template <typename T = void>
  [[nodiscard]] T* as() const noexcept {
    return std::bit_cast<T*>(address_.get());
  }

 private:
  Handle<DevicePtr, free_device_memory> address_;
  std::int64_t bytes_ = 0;
};

/// Page-locked host memory that the device can access: for copies without staging, and for flags
/// that a waiting kernel or stream polls. Initialised to zero.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::int64_t bytes);

  [[nodiscard]] void* host() const noexcept { return host_.get(); }
  template <typename T>
  [[nodiscard]] T* host_as() const noexcept {
    return static_cast<T*>(host_.get());
  }
  [[nodiscard]] DevicePtr address() const noexcept { return address_; }  ///< a device address
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

 private:
  Handle<void*, free_host_memory> host_;
  DevicePtr address_ = 0;
  std::int64_t bytes_ = 0;
};

// These functions queue work on the stream. Sizes are in bytes, or in 32-bit words for
// fill_words_async(). The host memory of a copy must outlive the copy, which is asynchronous only
// if the memory is pinned.
void fill_bytes_async(DevicePtr target, std::uint8_t value, std::int64_t bytes, const Stream&);
void fill_words_async(DevicePtr target, std::uint32_t value, std::int64_t words, const Stream&);
void copy_to_device_async(DevicePtr target, const void* source, std::int64_t bytes, const Stream&);
void copy_to_host_async(void* target, DevicePtr source, std::int64_t bytes, const Stream&);

}  // namespace fatune::gpu
