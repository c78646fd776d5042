#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>

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

}  // namespace fatune::emulate
