#include "emulator/memory/memory_access.hpp"

#include <algorithm>
#include <bit>

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kBankBytes = 4;
std::uint32_t lanes_per_part(std::uint32_t bytes) {
  return std::min<std::uint32_t>(kLanes, kBanks * kBankBytes / std::max(bytes, kBankBytes));
}

Mask part_mask(Mask mask, std::uint32_t first, std::uint32_t count) {
  const Mask all = count == kLanes ? kAllLanes : (Mask{1} << count) - 1;
  return mask & (all << first);
}

using Addresses = std::array<std::uint64_t, kLanes>;

/// The units that the lanes of a part access. A unit is one word, or 2 or 4 words of neighbouring
/// banks. Units thus belong to groups of banks as words belong to banks.
class PartUnits {
 public:
  PartUnits(const Addresses& addresses, Mask mask, std::uint32_t unit_bytes)
      : addresses_(addresses),
        mask_(mask),
        shift_(static_cast<std::uint32_t>(std::countr_zero(unit_bytes))),
        groups_(kBanks * kBankBytes / unit_bytes) {}

  [[nodiscard]] std::uint32_t passes() const {
    return share_a_group() ? most_of_a_group() : mask_ != 0 ? 1 : 0;
  }

 private:
  [[nodiscard]] std::uint64_t unit(int lane) const {
    return addresses_[static_cast<std::size_t>(lane)] >> shift_;
  }
  [[nodiscard]] std::uint32_t group(int lane) const {
    return static_cast<std::uint32_t>(unit(lane)) & (groups_ - 1);
  }

  [[nodiscard]] bool share_a_group() const {
    std::uint32_t seen = 0;
    std::uint32_t again = 0;
    for_each_lane(mask_, [&](int lane) {
      const std::uint32_t bit = 1U << group(lane);
      again |= seen & bit;
      seen |= bit;
    });
    return again != 0;
  }

  /// The most different units in any group. Lanes with different units of a group form a list:
  /// `newest` is its head, and `older` has the lane before each lane.
  [[nodiscard]] std::uint32_t most_of_a_group() const {
    constexpr int kNone = -1;
    std::array<int, kBanks> newest;
    newest.fill(kNone);
    std::array<int, kLanes> older;
    std::array<std::uint32_t, kBanks> counts{};
    std::uint32_t most = 0;
    for_each_lane(mask_, [&](int lane) {
      int& head = newest[group(lane)];
      int other = head;
      while (other != kNone && unit(other) != unit(lane)) {
        other = older[static_cast<std::size_t>(other)];
      }
      if (other == kNone) {
        older[static_cast<std::size_t>(lane)] = head;
        head = lane;
        most = std::max(most, ++counts[group(lane)]);
      }
    });
    return most;
  }

  const Addresses& addresses_;
  Mask mask_;
  std::uint32_t shift_;
  std::uint32_t groups_;
};

}  // namespace

std::uint32_t shared_wavefronts(const Addresses& addresses, Mask mask, std::uint32_t bytes) {
  const std::uint32_t lanes = lanes_per_part(bytes);
  std::uint32_t passes = 0;
  for (std::uint32_t first = 0; first < kLanes; first += lanes) {
    passes +=
        PartUnits(addresses, part_mask(mask, first, lanes), std::max(bytes, kBankBytes)).passes();
  }
  return passes;
}

std::uint32_t ideal_wavefronts(Mask mask, std::uint32_t bytes) {
  const std::uint32_t lanes = lanes_per_part(bytes);
  std::uint32_t parts = 0;
  for (std::uint32_t first = 0; first < kLanes; first += lanes) {
    parts += part_mask(mask, first, lanes) != 0 ? 1U : 0U;
  }
  return parts;
}

std::uint32_t global_sectors(const Addresses& addresses, Mask mask, std::uint32_t bytes) {
  std::array<std::uint64_t, std::size_t{2} * kLanes> sectors;
  std::size_t count = 0;
  for_each_lane(mask, [&](int lane) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
    sectors[count++] = address / kSectorBytes;
    sectors[count++] = (address + bytes - 1) / kSectorBytes;
  });
  std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint32_t>(
      std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count)) -
      sectors.begin());
}

void count_access(const Step& step, Space space, const Addresses& addresses, Mask mask,
                  std::uint32_t bytes) {
  InstructionCounts& counts = step.counts();
  counts.bytes += std::uint64_t{bytes} * static_cast<std::uint32_t>(std::popcount(mask));
  if (space == Space::shared || space == Space::shared_cluster) {
    counts.shared_wavefronts += shared_wavefronts(addresses, mask, bytes);
    counts.ideal_wavefronts += ideal_wavefronts(mask, bytes);
  } else if (space == Space::global) {
    counts.global_sectors += global_sectors(addresses, mask, bytes);
  }
}

}  // namespace fatune::emulate
