// The bytes of a kernel's arguments.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fatune_attention::detail {

/// Lays arguments out one after another, and the items of each as C lays out a struct: an item lies
/// at a multiple of its alignment; a struct has at least the alignment of its items, and its size
/// is a multiple of that. Padding is 0. An argument without items is left out. If something does
/// not fit, the layout fails. Allocates nothing.
class ArgumentLayout {
 public:
  static constexpr std::size_t kMostBytes = 32764;  ///< CUDA's limit
  static constexpr int kMostArguments = 200;
  static constexpr int kMostItems = 4096;  ///< of all arguments

  struct Argument {
    std::size_t offset;
    std::size_t bytes;
    std::size_t alignment;
  };

  ArgumentLayout() { open(1); }  // the first frame holds the arguments

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
  const Argument& argument(int index) const { return arguments_[index]; }
  int item_count() const { return item_count_; }
  /// The offset of an item among all arguments. It is final once its argument has ended.
  std::size_t item_offset(int item) const { return items_[item]; }
  std::size_t bytes() const { return end_; }  ///< the size of all arguments
  const unsigned char* data() const { return bytes_; }
  unsigned char* data() { return bytes_; }

 private:
  /// A struct or an argument that has not ended yet.
  struct Frame {
    std::size_t begin;
    std::size_t alignment;
    int first_item;
  };
  static constexpr int kMostDepth = 64;

  void open(std::size_t alignment);
  Frame close();
  bool grow(std::size_t end);
  void move(const Frame& frame, std::size_t begin);

  // Of each array only the first elements, which are counted, are initialised.
  unsigned char bytes_[kMostBytes];
  std::size_t end_ = 0;
  std::uint16_t items_[kMostItems];
  int item_count_ = 0;
  Frame frames_[kMostDepth];
  int depth_ = 0;
  Argument arguments_[kMostArguments];
  int count_ = 0;
  const char* failure_ = nullptr;
};

}  // namespace fatune_attention::detail
