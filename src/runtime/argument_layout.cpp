#include "argument_layout.hpp"

#include <algorithm>
#include <cstring>

#include "numbers.hpp"

namespace fatune_attention::detail {

void ArgumentLayout::open(std::size_t alignment) {
  if (depth_ == kMostDepth) {
    failure_ = "the arguments have structs that are nested too deeply";
  }
  if (failure_ == nullptr) {
    frames_[depth_++] = {end_, alignment, item_count_};
  }
}

/// Appends zeros up to `end`. Returns false if there is no room.
bool ArgumentLayout::grow(std::size_t end) {
  if (end > kMostBytes) {
    failure_ = "the arguments have more than 32764 bytes";
    return false;
  }
  std::memset(bytes_ + end_, 0, end - end_);
  end_ = end;
  return true;
}

void ArgumentLayout::put(const void* value, std::size_t bytes, std::size_t alignment) {
  Frame& frame = frames_[depth_ - 1];
  const std::size_t at = frame.begin + round_up(end_ - frame.begin, alignment);
  if (failure_ == nullptr && item_count_ == kMostItems) {
    failure_ = "the arguments have more than 4096 items";
  }
  if (failure_ == nullptr && grow(at + bytes)) {
    items_[item_count_++] = static_cast<std::uint16_t>(at);
    frame.alignment = std::max(frame.alignment, alignment);
    std::memcpy(bytes_ + at, value, bytes);
  }
}

/// Moves the last frame's bytes up to the place that its alignment requires.
void ArgumentLayout::move(const Frame& frame, std::size_t begin) {
  const std::size_t bytes = end_ - frame.begin;
  if (grow(begin + bytes)) {
    std::memmove(bytes_ + begin, bytes_ + frame.begin, bytes);
    std::memset(bytes_ + frame.begin, 0, begin - frame.begin);
    for (int item = frame.first_item; item < item_count_; ++item) {
      items_[item] = static_cast<std::uint16_t>(items_[item] + (begin - frame.begin));
    }
  }
}

/// Ends the innermost frame. Returns its place, which is final now that its alignment is known.
ArgumentLayout::Frame ArgumentLayout::close() {
  if (failure_ != nullptr) {
    return {};
  }
  const Frame inner = frames_[--depth_];
  Frame& outer = frames_[depth_ - 1];
  const std::size_t begin = outer.begin + round_up(inner.begin - outer.begin, inner.alignment);
  if (grow(inner.begin + round_up(end_ - inner.begin, inner.alignment)) && begin > inner.begin) {
    move(inner, begin);
  }
  outer.alignment = std::max(outer.alignment, inner.alignment);
  return {begin, inner.alignment, inner.first_item};
}

void ArgumentLayout::end_argument() {
  if (failure_ != nullptr) {
    return;
  }
  const std::size_t before = frames_[depth_ - 1].begin;
  if (end_ == before) {
    --depth_;  // the argument has no items
    return;
  }
  const Frame argument = close();
  if (count_ == kMostArguments) {
    failure_ = "the kernel has more than 200 arguments";
  } else {
    arguments_[count_++] = {argument.begin, end_ - argument.begin, argument.alignment};
  }
}

}  // namespace fatune_attention::detail
