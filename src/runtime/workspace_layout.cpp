#include "workspace_layout.hpp"

#include "numbers.hpp"

namespace fatune_attention::detail {

bool WorkspaceLayout::add(std::size_t bytes, std::uint32_t word, Clear clear) {
  if (count_ == kMostBuffers) {
    return false;
  }
  offsets_[count_++] = place(bytes, word, clear);
  return true;
}

/// Returns the offset.
std::size_t WorkspaceLayout::place(std::size_t bytes, std::uint32_t word, Clear clear) {
  const std::size_t whole = round_up(bytes, kAlignment);
  if (clear == Clear::once && word == 0 && whole <= kCleanBytes - clean_end_) {
    clean_end_ += whole;
    return clean_end_ - whole;
  }
  if (clear != Clear::none) {
    fills_[fill_count_++] = {end_, round_up(bytes, sizeof word) / sizeof word, word};
  }
  end_ += whole;
  return end_ - whole;
}

}  // namespace fatune_attention::detail
