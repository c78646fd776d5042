#pragma once

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

}  // namespace fatune::gpu
