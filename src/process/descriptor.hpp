#pragma once

#include <unistd.h>

#include <utility>

namespace fatune {

/// A file descriptor with an owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  void close() noexcept {
    if (number_ >= 0) {
      ::close(release());
    }
  }

 private:
  int number_;
};

/// Makes standard input, output and error safe to use, whatever the parent has left of them. A
/// closed stream becomes /dev/null: otherwise, a file that is opened later would get its number,
/// and fatune's texts. Standard output is then not open for writing, so that its writer notices. If
/// the reader has gone away, a write fails and the program continues.
void secure_standard_streams();

/// Ends the program as a write to a pipe without a reader does by default.
void end_by_broken_pipe();

}  // namespace fatune
