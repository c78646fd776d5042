#include "gpu/machine.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(CounterAccess, TheKernelModuleSaysWho) {
  constexpr const char* kAdmins = "RmMsg: \"\"\nRmProfilingAdminOnly: 1\n";
  EXPECT_EQ(counter_access(kAdmins, false), CounterAccess::admins_only);
  EXPECT_EQ(counter_access(kAdmins, true), CounterAccess::everybody);
  EXPECT_EQ(counter_access("RmProfilingAdminOnly: 0\n", false), CounterAccess::everybody);
  EXPECT_EQ(counter_access("", false), CounterAccess::unknown);
}

}  // namespace
}  // namespace fatune
