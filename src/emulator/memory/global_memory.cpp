#include "emulator/memory/global_memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"

namespace fatune::emulate {
namespace {

constexpr std::uint64_t kFirstAddress = 0x7f00'0000'0000;
constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kGap = std::uint64_t{1} << 24;

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

using Plane = ShadowPlane<GlobalEpoch>;

// The largest allocation that is tracked. Marks take 8 bytes for every 4 bytes, and another 8 for
// every byte if single bytes are accessed.
constexpr std::size_t kMostTrackedBytes = std::size_t{1} << 30U;
// The largest allocation whose accesses keep their instructions. Each agent that reads has marks of
// its own, of up to 20 bytes for every byte.
constexpr std::size_t kMostBytesWithEnds = std::size_t{2} << 20U;

/// Sets the other access of a race.
void name_end(const AccessEnds& ends, std::optional<GlobalRace>& race) {
  if (race) {
    const auto offset = static_cast<std::uint32_t>(race->offset);
    race->by =
        race->other_writes ? ends.writer(offset) : ends.reader(race->other.epoch().agent(), offset);
  }
}

std::optional<GlobalRace> find_race(const std::optional<Plane>& plane, const GlobalAccessor& who,
                                    std::uint32_t offset, std::uint32_t count, bool writes) {
  const auto unordered = [&](GlobalEpoch access) { return !who.follows(access); };
  if (!plane || plane->none_of(offset, count, unordered)) {
    return std::nullopt;
  }
  const std::uint32_t byte = plane->first_of(offset, count, unordered).value();
  return GlobalRace{byte, plane->at(byte), writes};
}

void mark(std::optional<Plane>& plane, const GlobalAccessor& who, std::size_t size,
          std::uint32_t offset, std::uint32_t count) {
  if (!plane) {
    plane.emplace(size, GlobalEpoch::nobody());
  }
  plane->fill(offset, count, who.epoch());
}

}  // namespace

std::uint64_t GlobalMemory::allocate(Allocation allocation, Content content) {
  next_ = std::max(next_, kFirstAddress);
  allocation.address = next_;
  next_ = (allocation.end() + kGap + kAlignment - 1) / kAlignment * kAlignment;
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
  const auto found = std::ranges::find_if(allocations_, holds);
  last_ = static_cast<std::size_t>(found - allocations_.begin());
  return found == allocations_.end() ? nullptr : &*found;
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
  const Allocation* const found = find_in(allocations_, address, &Allocation::address);
  if (found == nullptr) {
    throw std::logic_error("no allocation begins there");
  }
  return *found;
}

GlobalShadow::Planes* GlobalShadow::planes_of(const GlobalAccessor& who, std::size_t allocation,
                                              std::size_t size) {
  if (size > kMostTrackedBytes || who.cluster >= GlobalEpoch::kMostClusters) {
    return nullptr;
  }
  if (allocation >= planes_.size()) {
    planes_.resize(allocation + 1);
  }
  Planes& planes = planes_[allocation];
  if (keeps_ends_ && !planes.ends && size <= kMostBytesWithEnds) {
    planes.ends.emplace(size);
  }
  return &planes;
}

std::optional<GlobalRace> GlobalShadow::note(const GlobalAccessor& who, std::size_t allocation,
                                             std::size_t size, std::uint64_t offset,
                                             std::uint32_t count, bool writes) {
  Planes* const planes = planes_of(who, allocation, size);
  if (planes == nullptr) {
    return std::nullopt;
  }
  const auto at = static_cast<std::uint32_t>(offset);
  auto race = find_race(planes->writes, who, at, count, true);
  if (writes && !race) {
    race = find_race(planes->reads, who, at, count, false);
  }
  mark(writes ? planes->writes : planes->reads, who, size, at, count);
  if (planes->ends) {
    name_end(*planes->ends, race);
    const AccessEnd own = who.thread.end(writes ? AccessKind::write : AccessKind::read);
    writes ? planes->ends->note_write(own, at, count) : planes->ends->note_read(own, at, count);
  }
  return race;
}

}  // namespace fatune::emulate
