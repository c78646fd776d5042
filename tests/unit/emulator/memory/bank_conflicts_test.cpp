#include "emulator/memory/memory_access.hpp"

#include <gtest/gtest.h>

namespace fatune::emulate {
namespace {

template <typename Address>
std::array<std::uint64_t, kLanes> addresses(Address address) {
  std::array<std::uint64_t, kLanes> list{};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    list[lane] = address(lane);
  }
  return list;
}

/// Lane i of an ldmatrix .x4 passes the address of row i of a tile.
TEST(SharedWavefronts, UnswizzledRowsMeetInTheSameBanks) {
  for (const std::uint32_t row_bytes : {128U, 256U}) {
    const auto rows = addresses([&](std::uint32_t lane) { return lane * row_bytes; });
    EXPECT_EQ(shared_wavefronts(rows, kAllLanes, 16), 32U) << row_bytes;
    EXPECT_EQ(ideal_wavefronts(kAllLanes, 16), 4U);
  }
}

TEST(SharedWavefronts, SwizzledRowsDoNot) {
  const auto rows =
      addresses([](std::uint32_t lane) { return lane * 128 + (3 ^ (lane % 8)) * 16; });
  EXPECT_EQ(shared_wavefronts(rows, kAllLanes, 16), 4U);
}

TEST(SharedWavefronts, OneWordForManyIsOnePass) {
  EXPECT_EQ(shared_wavefronts(addresses([](std::uint32_t) { return 64U; }), kAllLanes, 4), 1U);
  const auto strided = addresses([](std::uint32_t lane) { return lane * 8; });
  EXPECT_EQ(shared_wavefronts(strided, kAllLanes, 4), 2U);
  EXPECT_EQ(shared_wavefronts(strided, kAllLanes, 8), 2U);
  EXPECT_EQ(ideal_wavefronts(kAllLanes, 8), 2U);
  EXPECT_EQ(shared_wavefronts(strided, 0xffffU, 4), 1U);
}

TEST(SharedWavefronts, ABankGivesItsDifferentWordsOneByOne) {
  // Lanes 0 to 15 read 8 words of bank 0, two lanes each word. Lanes 16 to 31 read one word each of
  // other banks.
  const auto words =
      addresses([](std::uint32_t lane) { return lane < 16 ? lane / 2 * 128 : (lane - 15) * 4; });
  EXPECT_EQ(shared_wavefronts(words, kAllLanes, 4), 8U);
  EXPECT_EQ(shared_wavefronts(words, 0xffff0000U, 4), 1U);
  EXPECT_EQ(shared_wavefronts(words, 0, 4), 0U);
  // Bytes and halves share words.
  EXPECT_EQ(shared_wavefronts(addresses([](std::uint32_t lane) { return lane * 2; }), kAllLanes, 2),
            1U);
  // With 32 bytes for each lane, lanes are served in groups of four.
  const auto wide = addresses([](std::uint32_t lane) { return lane * 64; });
  EXPECT_EQ(shared_wavefronts(wide, kAllLanes, 32), 16U);
}

TEST(GlobalSectors, CountsEachOnce) {
  EXPECT_EQ(global_sectors(addresses([](std::uint32_t lane) { return lane * 4; }), kAllLanes, 4),
            4U);
  EXPECT_EQ(global_sectors(addresses([](std::uint32_t lane) { return lane * 64; }), kAllLanes, 4),
            32U);
  EXPECT_EQ(global_sectors(addresses([](std::uint32_t) { return 96U; }), 1U, 16), 1U);
}

}  // namespace
}  // namespace fatune::emulate
