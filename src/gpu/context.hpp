#pragma once

#include <cstdint>

#include "gpu/handle.hpp"

namespace fatune::gpu {

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

  void synchronize() const;         ///< throws the error of work that failed on it
  [[nodiscard]] bool done() const;  ///< whether all queued work has finished; does not wait
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
  [[nodiscard]] bool done() const;
  [[nodiscard]] void* get() const noexcept { return event_.get(); }

 private:
  Handle<void*, destroy_event> event_;
};

/// Device time between two recorded, finished events, in milliseconds (resolution about 0.5 us).
[[nodiscard]] double elapsed_ms(const Event& start, const Event& stop);

}  // namespace fatune::gpu
