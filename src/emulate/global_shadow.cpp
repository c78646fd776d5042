#include "emulate/global_shadow.hpp"

namespace fatune::emulate {
namespace {

using Plane = ShadowPlane<GlobalEpoch>;

// A mark for every 4 bytes takes 8, and as many again when single bytes are accessed.
constexpr std::size_t kMostTrackedBytes = std::size_t{1} << 30U;

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
  return &planes_[allocation];
}

std::optional<GlobalRace> GlobalShadow::note_read(const GlobalAccessor& who, std::size_t allocation,
                                                  std::size_t size, std::uint64_t offset,
                                                  std::uint32_t count) {
  Planes* const planes = planes_of(who, allocation, size);
  if (planes == nullptr) {
    return std::nullopt;
  }
  const auto at = static_cast<std::uint32_t>(offset);
  mark(planes->reads, who, size, at, count);
  return find_race(planes->writes, who, at, count, true);
}

std::optional<GlobalRace> GlobalShadow::note_write(const GlobalAccessor& who,
                                                   std::size_t allocation, std::size_t size,
                                                   std::uint64_t offset, std::uint32_t count) {
  Planes* const planes = planes_of(who, allocation, size);
  if (planes == nullptr) {
    return std::nullopt;
  }
  const auto at = static_cast<std::uint32_t>(offset);
  auto race = find_race(planes->writes, who, at, count, true);
  if (!race) {
    race = find_race(planes->reads, who, at, count, false);
  }
  mark(planes->writes, who, size, at, count);
  return race;
}

}  // namespace fatune::emulate
