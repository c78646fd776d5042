#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace fatune::gpu {

/// Owns one driver handle: move-only, released exactly once. `Release` must not throw; it logs
/// failures.
template <typename Raw, void (*Release)(Raw) noexcept, Raw kNull = Raw{}>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Raw raw) noexcept : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, kNull)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      raw_ = std::exchange(other.raw_, kNull);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { reset(); }

  [[nodiscard]] Raw get() const noexcept { return raw_; }
  [[nodiscard]] explicit operator bool() const noexcept { return raw_ != kNull; }

 private:
  void reset() noexcept {
    if (raw_ != kNull) {
      Release(std::exchange(raw_, kNull));
    }
  }

  Raw raw_ = kNull;
};

void release_primary_context(int device) noexcept;
void destroy_stream(void* stream) noexcept;
void destroy_event(void* event) noexcept;

struct MemoryInfo {
  std::int64_t free_bytes = 0;
  std::int64_t total_bytes = 0;
};

/// The device's primary context, retained while this lives and current on the constructing thread.
/// Everything else in this folder needs a current context. All functions throw DriverError.
class Context {
 public:
  explicit Context(int device_ordinal);

  void make_current() const;  ///< affects the calling thread
  void synchronize() const;   ///< waits for all work of the context
  [[nodiscard]] MemoryInfo memory() const;
  [[nodiscard]] int device_ordinal() const noexcept { return device_.get(); }
  [[nodiscard]] void* get() const noexcept { return context_; }

 private:
  void* context_;
  Handle<int, release_primary_context, -1> device_;
};

/// A stream that does not synchronise with the legacy default stream.
class Stream {
 public:
  Stream();

  void synchronize() const;  ///< throws the error of work that failed on it
  [[nodiscard]] void* get() const noexcept { return stream_.get(); }

 private:
  Handle<void*, destroy_stream> stream_;
};

/// A point in a stream, with device time.
class Event {
 public:
  Event();

  void record(const Stream& stream) const;
  void synchronize() const;
  [[nodiscard]] void* get() const noexcept { return event_.get(); }

 private:
  Handle<void*, destroy_event> event_;
};

/// Device time between two recorded, finished events, in milliseconds (resolution about 0.5 us).
[[nodiscard]] double elapsed_ms(const Event& start, const Event& stop);

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
void fill_words_async(DevicePtr target, std::uint32_t value, std::int64_t words, const Stream&);
void copy_to_device_async(DevicePtr target, const void* source, std::int64_t bytes, const Stream&);
void copy_to_host_async(void* target, DevicePtr source, std::int64_t bytes, const Stream&);

}  // namespace fatune::gpu
