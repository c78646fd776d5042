#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fatune::emulate {

/// One allocation of device memory.
struct Allocation {
  std::string name;  ///< "Q"
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> initialised;  ///< 1 for each byte that was written; empty: all were
  std::vector<std::int64_t> shape;        ///< lengths in elements, outermost first; may be empty
  std::int64_t element_bytes = 1;

  [[nodiscard]] std::uint64_t end() const { return address + bytes.size(); }
};

/// Device memory. Wide gaps separate the allocations, so that a stray access hits none of them.
class GlobalMemory {
 public:
  enum class Content { given, undefined };

  /// Allocates `bytes` with their values, or the same number of undefined bytes. Returns the
  /// address, a multiple of 256.
  std::uint64_t allocate(Allocation allocation, Content content = Content::given);
  /// Adds a variable of the module at its given address. A variable that is already there keeps its
  /// content: later launches see what earlier ones left in it.
  void place(Allocation allocation);

  /// The allocation that holds these bytes; null: they are not in one.
  [[nodiscard]] Allocation* find(std::uint64_t address, std::uint64_t bytes);
  /// The index of an allocation, which stays the same until another one is added.
  [[nodiscard]] std::size_t index_of(const Allocation& allocation) const {
    return static_cast<std::size_t>(&allocation - allocations_.data());
  }
  /// Describes an address for messages: "Q [0, 17, 0, 64]" or "4 bytes after the end of Q".
  [[nodiscard]] std::string describe(std::uint64_t address) const;
  [[nodiscard]] const Allocation& at(std::uint64_t address) const;

 private:
  std::vector<Allocation> allocations_;  ///< sorted by address
  std::size_t last_ = 0;                 ///< index of the allocation that was found last
  std::uint64_t next_ = 0;
};

}  // namespace fatune::emulate
