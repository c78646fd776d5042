#include "data/device_file.hpp"

#include <gmock/gmock.h>

#include "unit/data/throws_error.hpp"

namespace fatune {
namespace {

TEST(DeviceFile, KnowsTheArchitecturesOfTheDocuments) {
  std::vector<int> known;
  for (const Arch arch : known_archs(FileTree{})) {
    known.push_back(arch.sm);
  }
  EXPECT_THAT(known, ::testing::IsSupersetOf({80, 86, 89, 90}));
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
}

TEST(DeviceFile, EveryFileReadsAndIsPlausible) {
  const FileTree tree;
  for (const Arch arch : known_archs(tree)) {
    const DeviceLimits limits = load_device_limits(tree, arch);
    EXPECT_EQ(limits.name, arch_name(arch) + " (no GPU)");
    EXPECT_LT(limits.smem_per_block_optin_bytes, limits.smem_per_sm_bytes);
    EXPECT_EQ(limits.smem_per_sm_bytes - limits.smem_per_block_optin_bytes,
              limits.smem_reserved_per_block_bytes);
    EXPECT_EQ(blocks_per_sm(limits, 128, 255, 1024), 2);
  }
}

TEST(DeviceFile, HopperAsItsProgrammingGuideSays) {
  const DeviceLimits limits = load_device_limits(FileTree{}, parse_arch("sm_90a"));
  EXPECT_EQ(limits.arch, (Arch{90, 'a'}));
  EXPECT_EQ(limits.sm_count, 132);
  EXPECT_EQ(limits.smem_per_block_optin_bytes, 232448);
  EXPECT_EQ(limits.registers_per_sm, 65536);
  EXPECT_EQ(limits.free_memory_bytes, 0);
}

TEST(DeviceFile, AnUnknownArchitectureNamesTheKnown) {
  fixtures::expect_error(
      [] {
        (void)load_device_limits(FileTree{}, Arch{87, '\0'});
      },
      ExitCode::usage, {"sm_87", "sm_80", "sm_90"});
}

}  // namespace
}  // namespace fatune
