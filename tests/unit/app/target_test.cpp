#include "app/target.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace fatune {
namespace {

TEST(RunsOn, TheSameMajorVersionAndNoNewerMinor) {
  EXPECT_TRUE(runs_on(Arch{80, '\0'}, Arch{80, '\0'}));
  EXPECT_TRUE(runs_on(Arch{80, '\0'}, Arch{86, '\0'}));
  EXPECT_TRUE(runs_on(Arch{90, '\0'}, Arch{90, 'a'}));
  EXPECT_FALSE(runs_on(Arch{89, '\0'}, Arch{86, '\0'}));
  EXPECT_FALSE(runs_on(Arch{80, '\0'}, Arch{90, 'a'}));
}

TEST(RunsOn, ArchitectureSpecificCodeOnItsVeryArchitecture) {
  EXPECT_TRUE(runs_on(Arch{90, 'a'}, Arch{90, 'a'}));
  EXPECT_FALSE(runs_on(Arch{90, 'a'}, Arch{100, 'a'}));
}

TEST(OfflineTarget, IsSm90UnlessAskedOtherwise) {
  const FileTree tree;
  EXPECT_EQ(offline_target(std::nullopt, tree).limits.arch, (Arch{90, '\0'}));
  const Target ampere = offline_target(Arch{80, '\0'}, tree);
  EXPECT_EQ(ampere.limits.sm_count, 108);
  EXPECT_FALSE(ampere.device);
}

TEST(ChooseTarget, DeviceNoneNeverTouchesTheDriver) {
  TargetOptions options;
  options.no_gpu = true;
  EXPECT_FALSE(choose_target(options, FileTree()).device);
  options.require_gpu = true;
  EXPECT_THROW((void)choose_target(options, FileTree()), Error);
}

}  // namespace
}  // namespace fatune
