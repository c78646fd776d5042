#include "emulate/memory/global_memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace fatune::emulate {
namespace {

constexpr std::uint64_t kFirstAddress = 0x7f00'0000'0000;
constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kGap = std::uint64_t{1} << 24;

constexpr std::uint64_t next_multiple(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::string coordinates(const Allocation& allocation, std::uint64_t offset) {
  const auto element_bytes = static_cast<std::uint64_t>(allocation.element_bytes);
  std::uint64_t element = offset / element_bytes;
  std::vector<std::uint64_t> index(allocation.shape.size());
  for (std::size_t i = index.size(); i-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(allocation.shape[i]);
    index[i] = element % extent;
    element /= extent;
  }
  return index.empty() ? fmt::format("{} + {} bytes", allocation.name, offset)
                       : fmt::format("{} [{}]", allocation.name, fmt::join(index, ", "));
}

}  // namespace

std::uint64_t GlobalMemory::allocate(Allocation allocation, Content content) {
  next_ = std::max(next_, kFirstAddress);
  allocation.address = next_;
  next_ = next_multiple(allocation.end() + kGap, kAlignment);
  if (content == Content::undefined) {
    allocation.initialised.assign(allocation.bytes.size(), 0);
  }
  const std::uint64_t address = allocation.address;
  place(std::move(allocation));
  return address;
}

void GlobalMemory::place(Allocation allocation) {
  const auto before =
      std::ranges::upper_bound(allocations_, allocation.address, {}, &Allocation::address);
  if (before == allocations_.begin() || std::prev(before)->address != allocation.address) {
    allocations_.insert(before, std::move(allocation));
  }
}

Allocation* GlobalMemory::find(std::uint64_t address, std::uint64_t bytes) {
  const auto holds = [&](const Allocation& allocation) {
    return address >= allocation.address && address + bytes <= allocation.end() &&
           address + bytes >= address;
  };
  if (last_ < allocations_.size() && holds(allocations_[last_])) {
    return &allocations_[last_];
  }
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    if (holds(allocations_[i])) {
      last_ = i;
      return &allocations_[i];
    }
  }
  return nullptr;
}

std::string GlobalMemory::describe(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(allocations_, address, {}, &Allocation::address);
  if (after == allocations_.begin()) {
    return fmt::format("{:#x}, in no allocation", address);
  }
  const Allocation& nearest = *std::prev(after);
  if (address < nearest.end()) {
    return coordinates(nearest, address - nearest.address);
  }
  const std::uint64_t beyond = address - nearest.end();
  if (beyond < kGap / 2 || after == allocations_.end()) {
    return fmt::format("{} bytes after the end of {}", beyond, nearest.name);
  }
  return fmt::format("{} bytes before {}", after->address - address, after->name);
}

const Allocation& GlobalMemory::at(std::uint64_t address) const {
  for (const Allocation& allocation : allocations_) {
    if (allocation.address == address) {
      return allocation;
    }
  }
  throw std::logic_error("no allocation begins there");
}

}  // namespace fatune::emulate
