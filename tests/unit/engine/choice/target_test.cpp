#include "engine/choice/kernel_choice.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

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

class OfflineTarget : public testing::Test {
 protected:
  [[nodiscard]] Family family(const char* name) const { return load_family(tree_, name); }
  [[nodiscard]] Arch arch(std::optional<Arch> asked, const std::vector<Family>& families) const {
    return offline_target(asked, tree_, families).limits.arch;
  }
  /// A family that needs `arch`.
  [[nodiscard]] Family needing(Arch arch) const {
    Family family = load_family(tree_, "flash_sm80");
    family.min_arch = arch;
    return family;
  }

  FileTree tree_;
};

TEST_F(OfflineTarget, IsAnH100OrH200UnlessTheFamiliesNeedAnother) {
  const Arch hopper{90, 'a'};
  EXPECT_EQ(arch(std::nullopt, {}), hopper);
  EXPECT_EQ(arch(std::nullopt, {family("flash_sm80")}), hopper);
  EXPECT_EQ(arch(std::nullopt, {family("flash_sm80"), family("flash_sm90")}), hopper);
  const Family newer = needing({100, '\0'});
  EXPECT_EQ(arch(std::nullopt, {newer}), newer.min_arch);
  EXPECT_EQ(arch(std::nullopt, {family("flash_sm80"), newer}), newer.min_arch);
  EXPECT_EQ(arch(std::nullopt, {family("flash_sm80"), family("flash_sm90"), newer}), hopper);
}

TEST_F(OfflineTarget, AddsTheSuffixThatAFamilyNeedsToTheArchitectureAskedFor) {
  const Arch plain{90, '\0'};
  EXPECT_EQ(arch(plain, {family("flash_sm80")}), plain);
  EXPECT_EQ(arch(plain, {family("flash_sm80"), family("flash_sm90")}), (Arch{90, 'a'}));
  EXPECT_EQ(arch(Arch{100, '\0'}, {family("flash_sm90")}), (Arch{100, '\0'}));
}

TEST_F(OfflineTarget, IsTheArchitectureAskedFor) {
  EXPECT_EQ(arch(Arch{80, '\0'}, {family("flash_sm90")}), (Arch{80, '\0'}));
  const Target ampere = offline_target(Arch{80, '\0'}, tree_, {});
  EXPECT_EQ(ampere.limits.sm_count, 108);
  EXPECT_FALSE(ampere.measured());
}

TEST(ChooseTargets, DeviceNoneNeverTouchesTheDriver) {
  TargetOptions options;
  options.no_gpu = true;
  const auto targets = choose_targets(options, FileTree(), {});
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_FALSE(targets[0].measured());
  EXPECT_FALSE(targets[0].why_not_measured.empty());
  options.require_gpu = true;
  EXPECT_THROW((void)choose_targets(options, FileTree(), {}), Error);
}

/// Two GPUs of the fake driver.
class ChooseTargetsWithGpus : public testing::Test {
 protected:
  [[nodiscard]] static std::vector<int> ordinals(const Target& target) {
    std::vector<int> ordinals;
    for (const TargetGpu& gpu : target.gpus) {
      ordinals.push_back(gpu.ordinal);
    }
    return ordinals;
  }
  static TargetOptions all() {
    TargetOptions options;
    options.all_devices = true;
    return options;
  }

  gpu::ScopedVariable two_{"FATUNE_FAKE_DEVICES", "2"};
};

TEST_F(ChooseTargetsWithGpus, TheFirstUnlessMoreAreAskedFor) {
  const auto targets = choose_targets({}, FileTree(), {});
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_THAT(ordinals(targets[0]), ElementsAre(0));
  EXPECT_EQ(targets[0].limits.uuid, targets[0].gpus[0].uuid);
}

TEST_F(ChooseTargetsWithGpus, ThoseOfOneModelShareATarget) {
  const auto targets = choose_targets(all(), FileTree(), {});
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_THAT(ordinals(targets[0]), ElementsAre(0, 1));
  EXPECT_NE(targets[0].gpus[0].uuid, targets[0].gpus[1].uuid);
}

TEST_F(ChooseTargetsWithGpus, EachModelHasItsOwn) {
  const gpu::ScopedVariable names("FATUNE_FAKE_NAMES", "Fake A,Fake B");
  const auto targets = choose_targets(all(), FileTree(), {});
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].limits.name, "Fake A");
  EXPECT_EQ(targets[1].limits.name, "Fake B");
  EXPECT_THAT(ordinals(targets[1]), ElementsAre(1));
}

TEST_F(ChooseTargetsWithGpus, OneThatIsAskedForAndIsNotThereIsAnError) {
  TargetOptions options;
  options.devices = {1, 5};
  EXPECT_THROW((void)choose_targets(options, FileTree(), {}), Error);
}

TEST_F(ChooseTargetsWithGpus, CodeMustRunOnAllOfThem) {
  TargetOptions options = all();
  options.arch = Arch{80, '\0'};
  EXPECT_THROW((void)choose_targets(options, FileTree(), {}), Error);
}

}  // namespace
}  // namespace fatune
