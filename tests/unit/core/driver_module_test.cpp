#include "core/driver_module.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TEST(ReadDriverRelease, FindsItInWhatTheKernelModuleSays) {
  EXPECT_EQ(
      read_driver_release("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  "
                          "Release Build  (root@host)\nGCC version:  gcc version 12.2.0\n"),
      "580.159.04");
  EXPECT_EQ(read_driver_release("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat"),
            "535.104.05");
}

TEST(ReadDriverRelease, NothingElseIsOne) {
  EXPECT_EQ(read_driver_release(""), "");
  EXPECT_EQ(read_driver_release("no driver here\n580.1"), "");
}

}  // namespace
}  // namespace fatune
