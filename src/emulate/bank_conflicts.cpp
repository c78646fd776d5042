#include "emulate/bank_conflicts.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kBankBytes = 4;
constexpr std::uint32_t kSectorBytes = 32;

std::uint32_t lanes_per_part(std::uint32_t bytes) {
  return std::min<std::uint32_t>(kLanes, kBanks * kBankBytes / std::max(bytes, kBankBytes));
}

/// The words of one part, each once.
class PartWords {
 public:
  void add(std::uint64_t word) {
    const auto bank = static_cast<std::size_t>(word % kBanks);
    for (std::uint32_t i = 0; i < counts_[bank]; ++i) {
      if (words_[bank][i] == word) {
        return;
      }
    }
    words_[bank][counts_[bank]++] = word;
    most_ = std::max(most_, counts_[bank]);
  }
  [[nodiscard]] std::uint32_t passes() const { return most_; }

 private:
  std::array<std::array<std::uint64_t, kLanes>, kBanks> words_;
  std::array<std::uint32_t, kBanks> counts_{};
  std::uint32_t most_ = 0;
};

Mask part_mask(Mask mask, std::uint32_t first, std::uint32_t count) {
  const Mask all = count == kLanes ? kAllLanes : (Mask{1} << count) - 1;
  return mask & (all << first);
}

}  // namespace

std::uint32_t shared_wavefronts(const std::array<std::uint64_t, kLanes>& addresses, Mask mask,
                                std::uint32_t bytes) {
  const std::uint32_t lanes = lanes_per_part(bytes);
  std::uint32_t passes = 0;
  for (std::uint32_t first = 0; first < kLanes; first += lanes) {
    PartWords words;
    for_each_lane(part_mask(mask, first, lanes), [&](int lane) {
      const std::uint64_t start = addresses[static_cast<std::size_t>(lane)] / kBankBytes;
      for (std::uint32_t i = 0; i < std::max(1U, bytes / kBankBytes); ++i) {
        words.add(start + i);
      }
    });
    passes += words.passes();
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

std::uint32_t global_sectors(const std::array<std::uint64_t, kLanes>& addresses, Mask mask,
                             std::uint32_t bytes) {
  std::array<std::uint64_t, 2 * kLanes> sectors;
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

void count_access(Execution& x, const Instruction& instruction, Space space,
                  const std::array<std::uint64_t, kLanes>& addresses, Mask mask,
                  std::uint32_t bytes) {
  InstructionCounts& counts = x.counts(instruction);
  counts.bytes += std::uint64_t{bytes} * static_cast<std::uint32_t>(std::popcount(mask));
  if (space == Space::shared) {
    counts.shared_wavefronts += shared_wavefronts(addresses, mask, bytes);
    counts.ideal_wavefronts += ideal_wavefronts(mask, bytes);
  } else if (space == Space::global) {
    counts.global_sectors += global_sectors(addresses, mask, bytes);
  }
}

}  // namespace fatune::emulate
