// The bytes of a kernel's arguments.
#pragma once

#include <cstddef>

namespace fatune_attention::detail {

/// Lays arguments out one after another, and the items of each as C lays out a struct: an item lies
/// at a multiple of its alignment; a struct has at least the alignment of its items, and its size
/// is a multiple of that. Padding is 0. An argument without items is left out. If something does
/// not fit, the layout fails. Allocates nothing.
class ArgumentLayout {
 public:
  static constexpr std::size_t kMostBytes = 4096;
  static constexpr int kMostArguments = 64;

  void begin_argument() { open(1); }
  void end_argument();
  /// `alignment`: the least alignment of the struct; a power of two.
  void begin_struct(std::size_t alignment) { open(alignment); }
  void end_struct() { close(); }
  /// `alignment`: a power of two.
  void put(const void* value, std::size_t bytes, std::size_t alignment);

  /// Returns why it failed, or null if it did not.
  const char* failure() const { return failure_; }
  int count() const { return count_; }
  std::size_t offset(int argument) const { return offsets_[argument]; }
  std::size_t bytes() const { return end_; }  ///< the size of all arguments
  const unsigned char* data() const { return bytes_; }
  unsigned char* data() { return bytes_; }

 private:
  /// A struct or an argument that has not ended yet.
  struct Frame {
    std::size_t begin;
    std::size_t alignment;
  };
  static constexpr int kMostDepth = 16;

  void open(std::size_t alignment);
  Frame close();
  bool grow(std::size_t end);
  void move(const Frame& frame, std::size_t begin);

  unsigned char bytes_[kMostBytes];  // only the bytes before end_ are initialised
  std::size_t end_ = 0;
  Frame frames_[kMostDepth] = {{0, 1}};  // the first frame holds the arguments
  int depth_ = 1;
  std::size_t offsets_[kMostArguments] = {};
  int count_ = 0;
  const char* failure_ = nullptr;
};

}  // namespace fatune_attention::detail
