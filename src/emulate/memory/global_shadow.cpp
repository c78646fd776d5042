#include "emulate/memory/global_shadow.hpp"

namespace fatune::emulate {
namespace {

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
