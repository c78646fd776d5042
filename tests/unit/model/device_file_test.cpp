
#include <optional>
#include <utility>

#include <gmock/gmock.h>

#include "base/json_file.hpp"
#include "model/device_limits.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

TEST(DeviceFile, KnowsTheArchitecturesOldestFirst) {
  std::vector<int> known;
  for (const Arch arch : known_archs(FileTree{})) {
    known.push_back(arch.sm);
  }
  EXPECT_THAT(known, ::testing::ElementsAre(80, 86, 89, 90, 100, 103, 120, 121));
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

TEST(DeviceFile, EveryFileHasRatesThatTheTensorCoresCanReach) {
  const FileTree tree;
  for (const Arch arch : known_archs(tree)) {
    const SmRates rates = load_sm_rates(tree, arch);
    const double peak = nominal_tensor_flop_per_clock(arch).value();
    EXPECT_LE(rates.mma_sync_flop, peak) << arch_name(arch);
    EXPECT_LE(rates.wgmma_flop.value_or(0.0), peak) << arch_name(arch);
    EXPECT_EQ(rates.wgmma_flop.has_value(), arch.sm == 90) << arch_name(arch);
    visit_members(rates, [](const MemberInfo& info, const std::optional<double>& rate) {
      EXPECT_GT(rate.value_or(1.0), 0.0) << info.name;
    });
  }
}

TEST(DeviceFile, HopperHasTheRatesThatItsEstimateIsMadeOf) {
  const SmRates rates = load_sm_rates(FileTree{}, parse_arch("sm_90a"));
  const double tflops = *rates.wgmma_flop * 132 * 1.98e9 / 1e12;
  EXPECT_THAT(tflops, ::testing::AllOf(::testing::Ge(821.0), ::testing::Le(831.0)));
  EXPECT_EQ(rates.mma_sync_flop, 2560.0);
  EXPECT_EQ(rates.exponentials, 16.0);
  EXPECT_EQ(rates.smem_bytes, 128.0);
  EXPECT_EQ(rates.issued_warp_instructions, 4.0);
}

TEST(DeviceFile, AnArchitectureWithoutAFileHasTheRatesOfTheNearestOlder) {
  const FileTree tree;
  const auto fp32_and_tensor = [&](int sm) {
    const SmRates rates = load_sm_rates(tree, Arch{sm, '\0'});
    return std::pair(rates.fp32_operations, rates.mma_sync_flop);
  };
  EXPECT_EQ(fp32_and_tensor(80), std::pair(64.0, 2048.0));
  EXPECT_EQ(fp32_and_tensor(87), std::pair(128.0, 1024.0));
  EXPECT_EQ(fp32_and_tensor(87), fp32_and_tensor(86));
  EXPECT_EQ(fp32_and_tensor(110), fp32_and_tensor(103));
  fixtures::expect_error([&] { (void)fp32_and_tensor(75); }, ExitCode::usage, {"sm_75", "sm_80"});
}

TEST(DeviceFile, WrongRatesAreNamed) {
  const nlohmann::json good = parse_json(FileTree{}.read("configs/devices/sm_90.json"), "good");
  const auto expect_bad = [&](const char* rate, const nlohmann::json& value,
                              const std::vector<std::string>& parts) {
    nlohmann::json bad = good;
    bad["rates"][rate] = value;
    fixtures::expect_error([&] { check_schema(bad, FileTree{}, "device", "dev.json"); },
                           ExitCode::bad_file, parts);
  };
  expect_bad("exponentials", 0, {"dev.json: /rates/exponentials", "0 is not", "such as 16"});
  expect_bad("wgmma_flop", "fast", {"dev.json: /rates/wgmma_flop", "\"fast\"", "such as 3150"});
  expect_bad("ex2", 16, {"dev.json: /rates", "unknown member 'ex2'", "exponentials"});
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
