// The kernels of these tests compile on a machine without a GPU too.
#include "gpu/test_kernels.hpp"

#include <gtest/gtest.h>

#include "gpu/gpu_test.hpp"

namespace fatune {
namespace {

TEST(TestKernels, CompileWithoutAGpu) {
  const Arch arch{90, 'a'};
  EXPECT_FALSE(compile_test_kernel(kSpin, "spin", arch, {{"SPIN_NS", "1000"}}).cubin.empty());
  EXPECT_FALSE(compile_test_kernel(kReadAll, "read_all", arch).cubin.empty());
  EXPECT_FALSE(compile_test_kernel(kEmpty, "empty", arch).cubin.empty());
  EXPECT_FALSE(compile_test_kernel(kLongSpin, "long_spin", arch).cubin.empty());
}

}  // namespace
}  // namespace fatune
