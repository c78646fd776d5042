#include "model/device_limits.hpp"

#include <gtest/gtest.h>

#include <string>

#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

TEST(Arch, ReadsEveryNotation) {
  EXPECT_EQ(parse_arch("sm_80"), (Arch{80, '\0'}));
  EXPECT_EQ(parse_arch("sm_90a"), (Arch{90, 'a'}));
  EXPECT_EQ(parse_arch("90a"), (Arch{90, 'a'}));
  EXPECT_EQ(parse_arch("9.0"), (Arch{90, '\0'}));
  EXPECT_EQ(parse_arch("sm_100a"), (Arch{100, 'a'}));
  EXPECT_EQ(parse_arch("12.0"), (Arch{120, '\0'}));
}

TEST(Arch, NameRoundTrips) {
  for (const char* name : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100"}) {
    EXPECT_EQ(arch_name(parse_arch(name)), name);
  }
}

TEST(Arch, PtxHasAVirtualOne) {
  EXPECT_EQ(virtual_arch_name({80, '\0'}), "compute_80");
  EXPECT_EQ(virtual_arch_name({90, 'a'}), "compute_90a");
}

TEST(Arch, RefusesWhatIsNoArchitecture) {
  const std::string long_text(1 << 20, '9');
  for (const std::string& text :
       {std::string(), std::string("sm90"), std::string("sm_90b"), std::string("compute_90"),
        std::string("sm_"), std::string(" sm_90"), std::string("hopper"), long_text}) {
    fixtures::expect_error([&] { (void)parse_arch(text); }, ExitCode::usage,
                           {"is not a GPU architecture", "sm_90a"});
  }
}

TEST(Arch, RefusesOldArchitectures) {
  fixtures::expect_error([] { (void)parse_arch("sm_75"); }, ExitCode::usage,
                         {"sm_75 is older than sm_80", "8.0 or newer"});
}

TEST(Arch, RefusesASuffixBeforeHopper) {
  for (const std::string name : {"sm_80", "sm_86", "sm_89"}) {
    fixtures::expect_error([&] { (void)parse_arch(name + "a"); }, ExitCode::usage,
                           {"no architecture " + name + "a", "write " + name, "sm_90a"});
  }
}

}  // namespace
}  // namespace fatune
