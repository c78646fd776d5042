#include <gmock/gmock.h>

#include "unit/emulator/emulated_kernel.hpp"

// Schedules in which one warp goes on only when nothing else can.
namespace fatune::emulate {
namespace {

Trial two_warps(Schedule schedule) {
  Trial trial;
  trial.threads = 64;
  trial.schedule = schedule;
  return trial;
}

/// Warp 1 says that the buffer is free before it has waited until it is full. If it lags, the
/// barrier's next phase is complete before it looks, and it waits for the one after that.
const std::string kFreedEarly = kernel_text(
    ".shared .align 8 .b8 bars[16];\nmov.u32 %r1, bars;\nsetp.eq.u32 %p1, %r0, 0;\n"
    "@%p1 mbarrier.init.shared.b64 [%r1], 1;\n@%p1 mbarrier.init.shared.b64 [%r1+8], 1;\n"
    "bar.sync 0;\nsetp.eq.u32 %p2, %r0, 32;\n@%p1 bra FILL;\n@%p2 bra USE;\nret;\n"
    "FILL: mbarrier.arrive.shared.b64 %w3, [%r1];\n"
    "FREE: mbarrier.try_wait.parity.shared.b64 %p3, [%r1+8], 0;\n@!%p3 bra FREE;\n"
    "mbarrier.arrive.shared.b64 %w3, [%r1];\nret;\n"
    "USE: mbarrier.arrive.shared.b64 %w3, [%r1+8];\n"
    "FULL: mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0;\n@!%p3 bra FULL;\nret;");

TEST(Lagging, AWaitThatALateWarpMissesIsFound) {
  EXPECT_THAT(emulate(kFreedEarly, two_warps({Timing::late, 1})).findings(), testing::IsEmpty());
  EXPECT_THAT(emulate(kFreedEarly, two_warps({Timing::lagging, 0})).findings(), testing::IsEmpty());
  EXPECT_THAT(emulate(kFreedEarly, two_warps({Timing::lagging, 1})).findings(),
              testing::Contains(testing::HasSubstr("no warp can go on")));
}

TEST(Lagging, TheWarpIsThatOfTheSeedModuloTheWarpsOfABlock) {
  EXPECT_THAT(emulate(kFreedEarly, two_warps({Timing::lagging, 3})).findings(),
              testing::Contains(testing::HasSubstr("no warp can go on")));
}

}  // namespace
}  // namespace fatune::emulate
