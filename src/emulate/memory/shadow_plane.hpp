#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulate/memory/zeroed_allocator.hpp"

namespace fatune::emulate {

/// A mark for every byte of a memory. The 4 bytes of a word mostly have the same mark. It is then
/// stored once for the word, which makes the plane fast. Mark{} must be all zero bits.
template <typename Mark>
class ShadowPlane {
 public:
  /// Marks all bytes with Mark{}. `mixed` is a mark that no byte will have.
  ShadowPlane(std::size_t bytes, Mark mixed)
      : words_((bytes + kWordBytes - 1) / kWordBytes), mixed_(mixed) {}

  [[nodiscard]] Mark at(std::uint32_t offset) const {
    const Mark mark = words_[offset / kWordBytes];
    return mark == mixed_ ? bytes_[offset] : mark;
  }

  void fill(std::uint32_t offset, std::uint32_t count, Mark mark) {
    if (whole(offset, count)) [[likely]] {
      std::fill_n(words_.begin() + offset / kWordBytes, count / kWordBytes, mark);
      return;
    }
    if (in_one_word(offset, count)) {
      std::fill_n(bytes_of_word(offset / kWordBytes) + offset % kWordBytes, count, mark);
      return;
    }
    for (std::uint32_t byte = offset; byte < offset + count; ++byte) {
      bytes_of_word(byte / kWordBytes)[byte % kWordBytes] = mark;
    }
  }

  /// True if none of these bytes has a mark that is `wrong`.
  template <typename Wrong>
  [[nodiscard]] bool none_of(std::uint32_t offset, std::uint32_t count, Wrong wrong) const {
    if (!whole(offset, count)) [[unlikely]] {
      return none_of_part(offset, count, wrong);
    }
    const Mark* const first = &words_[offset / kWordBytes];
    const Mark* const end = first + count / kWordBytes;
    for (const Mark* word = first; word != end; ++word) {
      if (word != first && *word == word[-1]) {
        continue;
      }
      if (*word == mixed_) [[unlikely]] {
        return !first_of(offset, count, wrong);
      }
      if (wrong(*word)) {
        return false;
      }
    }
    return true;
  }

  /// The first byte with a mark that is `wrong`.
  template <typename Wrong>
  [[nodiscard]] std::optional<std::uint32_t> first_of(std::uint32_t offset, std::uint32_t count,
                                                      Wrong wrong) const {
    for (std::uint32_t byte = offset; byte < offset + count; ++byte) {
      if (wrong(at(byte))) {
        return byte;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kWordBytes = 4;

  static constexpr bool whole(std::uint32_t offset, std::uint32_t count) {
    return (offset | count) % kWordBytes == 0;
  }

  static constexpr bool in_one_word(std::uint32_t offset, std::uint32_t count) {
    return count != 0 && offset % kWordBytes + count <= kWordBytes;
  }

  /// none_of() for bytes that are not whole words, mostly halves of words.
  template <typename Wrong>
  [[nodiscard]] bool none_of_part(std::uint32_t offset, std::uint32_t count, Wrong wrong) const {
    const Mark& word = words_[offset / kWordBytes];
    return in_one_word(offset, count) && word != mixed_ ? !wrong(word)
                                                        : !first_of(offset, count, wrong);
  }

  /// Gives the bytes of a word marks of their own.
  Mark* bytes_of_word(std::uint32_t word) {
    if (bytes_.empty()) {
      bytes_.resize(words_.size() * kWordBytes);
    }
    Mark* const bytes = &bytes_[std::size_t{word} * kWordBytes];
    if (words_[word] != mixed_) {
      std::fill_n(bytes, kWordBytes, words_[word]);
      words_[word] = mixed_;
    }
    return bytes;
  }

  using Marks = std::vector<Mark, ZeroedAllocator<Mark>>;

  Marks words_;
  Marks bytes_;  ///< marks for mixed words; empty until there is one
  Mark mixed_;
};

}  // namespace fatune::emulate
