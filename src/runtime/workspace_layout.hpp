// Where the buffers of a kernel lie in the caller's workspace, and what they are filled with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fatune_attention::detail {

/// When a buffer is filled. `once`: kernels leave it as the fill left it. `timed`: before each
/// launch, like `before_launch`, but measured times of the kernel include the fill. `none`:
/// contents do not matter.
enum class Clear : int { once, before_launch, timed, none };

/// A part of the workspace that is filled with a 32-bit word before the kernel.
struct Fill {
  std::size_t offset;
  std::size_t words;
  std::uint32_t word;
};

/// Places buffers. Buffers of Clear::once that are filled with 0 lie in the first 64 KiB, as far as
/// there is room, and nothing else does. Whatever problems follow each other, that part is 0
/// between launches, so that a workspace that was clean at first need not be filled there. The
/// other buffers follow it. Each is 256-byte aligned.
class WorkspaceLayout {
 public:
  static constexpr std::size_t kCleanBytes = 65536;
  static constexpr std::size_t kAlignment = 256;
  static constexpr int kMostBuffers = 100;

  /// Returns false if there are too many.
  bool add(std::size_t bytes, std::uint32_t word, Clear clear);

  int count() const { return count_; }
  std::size_t offset(int buffer) const { return offsets_[buffer]; }
  std::size_t bytes() const { return end_ > kCleanBytes ? end_ : clean_end_; }

  /// Calls use(fill) for each part to fill, until it returns false.
  template <typename Use>
  void for_each_fill(bool is_clean, Use use) const {
    const Fill clean{0, clean_end_ / sizeof(std::uint32_t), 0};
    bool goes_on = is_clean || clean_end_ == 0 || use(clean);
    for (int i = 0; goes_on && i < fill_count_; ++i) {
      goes_on = use(fills_[i]);
    }
  }

 private:
  std::size_t place(std::size_t bytes, std::uint32_t word, Clear clear);

  // Of each array only the first elements, which are counted, are initialised.
  std::size_t offsets_[kMostBuffers];
  int count_ = 0;
  Fill fills_[kMostBuffers];  // fills after the clean part
  int fill_count_ = 0;
  std::size_t clean_end_ = 0;
  std::size_t end_ = kCleanBytes;
};

}  // namespace fatune_attention::detail
