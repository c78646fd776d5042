#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include <sys/mman.h>

#include "emulator/memory/clocks.hpp"

namespace fatune::emulate {

/// An allocator of zeroed memory whose pages exist only once they are touched. The memory of a
/// launch is mostly left alone: often one head of many is run. `Value{}` must be all zero bits;
/// a container's new elements are Value{}.
template <typename Value>
struct ZeroedAllocator {
  static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);
  using value_type = Value;

  ZeroedAllocator() = default;
  template <typename Other>
  explicit ZeroedAllocator(const ZeroedAllocator<Other>&) {}

  [[nodiscard]] Value* allocate(std::size_t count) {
    void* const memory = mmap(nullptr, count * sizeof(Value), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {  // NOLINT
      throw std::bad_alloc();
    }
    return static_cast<Value*>(memory);
  }
  void deallocate(Value* memory, std::size_t count) { munmap(memory, count * sizeof(Value)); }

  /// Leaves a new element as it is: zero.
  void construct(Value*) {}
  template <typename... From>
  void construct(Value* at, From&&... from) {
    ::new (at) Value(static_cast<From&&>(from)...);
  }

  bool operator==(const ZeroedAllocator&) const = default;
};

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

/// The last writer and the last reader of each byte of a memory, kept in step with the marks of
/// that memory. Epochs (clocks.hpp) do not contain the instructions: that would slow down every
/// run, and only findings need them.
class AccessEnds {
 public:
  explicit AccessEnds(std::size_t bytes) : bytes_(bytes) {}

  void note_write(const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    fill(writes_, by, offset, count);
  }
  void note_read(const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    reads_.resize(std::max<std::size_t>(reads_.size(), by.agent + std::size_t{1}));
    fill(reads_[by.agent], by, offset, count);
  }
  /// Records that a copy or product begins to read.
  void begin_async_read(const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    fill(async_reads_, by, offset, count);
  }
  [[nodiscard]] AccessEnd writer(std::uint32_t offset) const { return at(writes_, offset); }
  /// The last read by the agent.
  [[nodiscard]] AccessEnd reader(Agent agent, std::uint32_t offset) const {
    return agent < reads_.size() ? at(reads_[agent], offset) : AccessEnd{};
  }
  /// The copy or product that was the last one to begin reading.
  [[nodiscard]] AccessEnd async_reader(std::uint32_t offset) const {
    return at(async_reads_, offset);
  }

 private:
  using Plane = std::optional<ShadowPlane<AccessEnd>>;

  static AccessEnd at(const Plane& plane, std::uint32_t offset) {
    return plane ? plane->at(offset) : AccessEnd{};
  }
  void fill(Plane& plane, const AccessEnd& by, std::uint32_t offset, std::uint32_t count) {
    if (!plane) {
      plane.emplace(bytes_, AccessEnd::nobody());
    }
    plane->fill(offset, count, by);
  }

  std::size_t bytes_;
  Plane writes_;
  Plane async_reads_;
  std::vector<Plane> reads_;  ///< indexed by agent
};

}  // namespace fatune::emulate
