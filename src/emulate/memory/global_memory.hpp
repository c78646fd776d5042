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
  std::vector<std::uint8_t> initialised;  ///< by byte: 1 when it has been written; empty: all are
  std::vector<std::int64_t> shape;        ///< of elements, outermost first; may be empty
  std::int64_t element_bytes = 1;

  [[nodiscard]] std::uint64_t end() const { return address + bytes.size(); }
};

/// Device memory: allocations with wide gaps between, so that a stray access meets none of them.
class GlobalMemory {
 public:
  enum class Content { given, undefined };

  /// Copies `bytes`, or leaves as many undefined; gives the address, a multiple of 256.
  std::uint64_t allocate(Allocation allocation, Content content = Content::given);
  /// A variable of the module, at an address that is chosen already. It keeps what it has when it
  /// is there: later launches see what earlier ones left in it.
  void place(Allocation allocation);

  /// The allocation that holds these bytes; null: they are not in one.
  [[nodiscard]] Allocation* find(std::uint64_t address, std::uint64_t bytes);
  /// Its place among the allocations: stays while none is added.
  [[nodiscard]] std::size_t index_of(const Allocation& allocation) const {
    return static_cast<std::size_t>(&allocation - allocations_.data());
  }
  /// "Q [0, 17, 0, 64]" or "4 bytes after the end of Q": for messages.
  [[nodiscard]] std::string describe(std::uint64_t address) const;
  [[nodiscard]] const Allocation& at(std::uint64_t address) const;

 private:
  std::vector<Allocation> allocations_;  ///< by address
  std::size_t last_ = 0;                 ///< where the last access was found
  std::uint64_t next_ = 0;
};

}  // namespace fatune::emulate
