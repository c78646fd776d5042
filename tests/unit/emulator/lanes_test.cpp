#include <cstring>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/emulator/emulated_kernel.hpp"

// Instructions in which the lanes of a warp cooperate.
namespace fatune::emulate {
namespace {

/// The value that lane `lane` gets from `shfl.sync` of the lane numbers, plus 100 if out of range.
std::uint64_t shuffled(const char* mode, int by, int c, std::uint32_t lane) {
  const Emulated done = emulate(kernel_text(
      fmt::format("shfl.sync.{}.b32 %r3|%p1, %r0, {}, {}, -1;\n@!%p1 add.u32 %r3, %r3, 100;\n"
                  "st.global.u32 [%w2], %r3;\n",
                  mode, by, c)));
  EXPECT_THAT(done.findings(), testing::IsEmpty());
  return done.stored(lane);
}

TEST(Shuffle, WithinTheWarp) {
  EXPECT_EQ(shuffled("bfly", 16, 31, 3), 19U);
  EXPECT_EQ(shuffled("idx", 5, 31, 30), 5U);
  EXPECT_EQ(shuffled("down", 1, 31, 30), 31U);
  EXPECT_EQ(shuffled("down", 1, 31, 31), 131U);
  EXPECT_EQ(shuffled("up", 2, 0, 2), 0U);
  EXPECT_EQ(shuffled("up", 2, 0, 1), 101U);
}

TEST(Shuffle, WithinSegmentsOfEight) {
  constexpr int kDown = 0x181f;  // segment mask 24, clamp 31
  constexpr int kUp = 0x1800;
  EXPECT_EQ(shuffled("down", 4, kDown, 11), 15U);
  EXPECT_EQ(shuffled("down", 4, kDown, 12), 112U);
  EXPECT_EQ(shuffled("up", 4, kUp, 12), 8U);
  EXPECT_EQ(shuffled("up", 4, kUp, 11), 111U);
  EXPECT_EQ(shuffled("idx", 2, kDown, 29), 26U);
  EXPECT_EQ(shuffled("bfly", 8, kDown, 1), 101U);
}

TEST(Vote, EachLaneInItsOwnGroup) {
  const Emulated done = emulate(kernel_text(
      "setp.lt.u32 %p1, %r0, 20;\nsetp.lt.u32 %p2, %r0, 16;\nselp.b32 %r5, 65535, 0xffff0000, "
      "%p2;\nvote.sync.ballot.b32 %r3, %p1, %r5;\nvote.sync.all.pred %p3, %p1, %r5;\n"
      "@%p3 or.b32 %r3, %r3, 0x80000000;\nst.global.u32 [%w2], %r3;\n"));
  EXPECT_EQ(done.stored(0), 0x8000ffffU);
  EXPECT_EQ(done.stored(31), 0x000f0000U);
}

TEST(Schedule, DoesNotChangeWhatARaceFreeKernelGives) {
  const std::string text = kernel_text(
      ".shared .align 4 .b8 tile[512];\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\n"
      "add.u32 %r3, %r1, %r2;\nmov.u32 %r4, %r0;\nmov.u32 %r5, 0;\nxor.b32 %r6, %r2, 508;\n"
      "add.u32 %r6, %r1, %r6;\nLOOP: st.shared.u32 [%r3], %r4;\nbar.sync 0;\n"
      "ld.shared.u32 %r7, [%r6];\nmad.lo.u32 %r4, %r4, 31, %r7;\nbar.sync 0;\n"
      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 8;\n@%p1 bra LOOP;\n"
      "st.global.u32 [%w2], %r4;\n");
  const Emulated first = emulate(text, {.threads = 128});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Emulated done = emulate(text, {.threads = 128, .schedule = {Timing::random, seed}});
    EXPECT_THAT(done.findings(), testing::IsEmpty());
    EXPECT_EQ(done.output, first.output) << seed;
  }
}

}  // namespace
}  // namespace fatune::emulate
