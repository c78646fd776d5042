#pragma once

namespace fatune {

/// A file descriptor with an owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept;
  void close() noexcept;

 private:
  int number_;
};

}  // namespace fatune
