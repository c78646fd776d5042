#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "unit/emulator/planted_fault.hpp"

// Blocks that wait for each other or share work.
namespace fatune::emulate {
namespace {

const std::string kBlockAndGrid = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\n";
const std::string kFlag = "add.u64 %w3, %w1, 8192;\n";

/// Block 0 waits for what the last block writes. `poll` is code that reads the flag at %w3 into
/// %r4, and `give` is code that sets it.
std::string waits_for_the_last(const std::string& poll, const std::string& give) {
  return kernel_text(kBlockAndGrid + kFlag +
                     "add.u32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, %r2;\n@%p1 bra GIVE;\n"
                     "setp.ne.u32 %p2, %r1, 0;\n@%p2 ret;\nPOLL: " +
                     poll +
                     "setp.eq.u32 %p3, %r4, 0;\n@%p3 bra POLL;\n"
                     "ld.global.u32 %r5, [%w1+4096];\nst.global.u32 [%w2], %r5;\nret;\n"
                     "GIVE: setp.ne.u32 %p2, %r0, 0;\n@%p2 ret;\n"
                     "st.global.u32 [%w1+4096], 77;\n" +
                     give);
}

const std::string kAcquire = "ld.acquire.gpu.global.u32 %r4, [%w3];\n";
const std::string kRelease = "st.release.gpu.global.u32 [%w3], 1;\n";

TEST(ResidentClusters, ABlockMayWaitForALaterOne) {
  const std::string text = waits_for_the_last(kAcquire, kRelease);
  const Trial trial{.threads = 64, .blocks = 9};
  expect_clean(text, trial);
  for (const Schedule& schedule : all_schedules()) {
    Trial one = trial;
    one.schedule = schedule;
    EXPECT_EQ(emulate(text, one).stored(63), 77U) << name_of(schedule);
  }
}

TEST(ResidentClusters, ACompareAndSwapThatChangesNothingIsAPollToo) {
  expect_clean(waits_for_the_last("atom.acquire.gpu.global.cas.b32 %r4, [%w3], 5, 5;\n", kRelease),
               {.blocks = 9});
}

TEST(ResidentClusters, APollThatOrdersNothingRaces) {
  expect_found(waits_for_the_last("ld.relaxed.gpu.global.u32 %r4, [%w3];\n", kRelease), "race",
               "reads out + 4096 bytes, which thread 0 of block 8 writes", {.blocks = 9});
}

TEST(ResidentClusters, AFlagThatNobodySetsIsADeadlock) {
  expect_found(waits_for_the_last("ld.acquire.gpu.global.u32 %r4, [%w3]; // here\n", ""),
               "deadlock", "warp 0, all lanes: waits until out + 8192 bytes changes (PTX line ",
               {.blocks = 9});
}

TEST(ResidentClusters, ABlockThatHasNoRoomCannotSetAFlag) {
  const std::string text = waits_for_the_last(kAcquire, kRelease);
  expect_found(text, "deadlock", "; 8 more blocks do not fit beside 1",
               {.blocks = 9, .resident_blocks = 1});
  // Blocks that end make room for the others.
  expect_clean(text, {.blocks = 9, .resident_blocks = 2});
}

/// All blocks wait for each other, three times.
std::string grid_barriers() {
  return kernel_text(kBlockAndGrid + kFlag +
                     "mov.u32 %r6, 0;\nAGAIN: bar.sync 0;\nadd.u32 %r6, %r6, %r2;\n"
                     "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra WAIT;\n"
                     "atom.acq_rel.gpu.global.add.u32 %r4, [%w3], 1;\n"
                     "POLL: ld.acquire.gpu.global.u32 %r4, [%w3];\n"
                     "setp.lt.u32 %p2, %r4, %r6;\n@%p2 bra POLL;\n"
                     "WAIT: bar.sync 0;\nmul.lo.u32 %r7, %r2, 3;\n"
                     "setp.lt.u32 %p3, %r6, %r7;\n@%p3 bra AGAIN;\n");
}

TEST(ResidentClusters, AllBlocksOfAGridMayWaitForEachOther) {
  expect_clean(grid_barriers(), {.threads = 64, .blocks = 40});
}

TEST(ResidentClusters, ABarrierOfMoreBlocksThanThereIsRoomForIsADeadlock) {
  expect_found(grid_barriers(), "deadlock", "1 more blocks do not fit beside 11",
               {.threads = 64, .blocks = 12, .resident_blocks = 11});
}

TEST(ResidentClusters, ClustersWaitForEachOther) {
  expect_clean(grid_barriers(), {.blocks = 16, .cluster = 2});
  expect_found(grid_barriers(), "deadlock", "1 more clusters do not fit beside 7",
               {.blocks = 16, .cluster = 2, .resident_blocks = 15});
}

/// Blocks take tiles from a counter until none is left. The block that did a tile is written for
/// it.
std::string shared_work(const std::string& take) {
  return kernel_text(kBlockAndGrid + kFlag +
                     ".shared .align 4 .b8 tile[4];\nmov.u32 %r8, tile;\n"
                     "NEXT: bar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra WAIT;\n" +
                     take +
                     "st.shared.u32 [%r8], %r4;\nWAIT: bar.sync 0;\nld.shared.u32 %r4, [%r8];\n"
                     "setp.ge.u32 %p2, %r4, 64;\n@%p2 ret;\n"
                     "mad.wide.u32 %w4, %r4, 16, %w1;\n"
                     "@!%p1 red.global.add.u32 [%w4+4], 1;\n@!%p1 st.global.u32 [%w4], %r1;\n"
                     "bra NEXT;\n");
}

TEST(ResidentClusters, PersistentBlocksShareWorkOut) {
  const std::string text = shared_work("atom.global.add.u32 %r4, [%w3], 1;\n");
  Trial trial{.threads = 64, .blocks = 4};
  expect_clean(text, trial);
  std::set<std::uint64_t> workers;
  for (const Schedule& schedule : all_schedules()) {
    trial.schedule = schedule;
    const Emulated done = emulate(text, trial);
    for (std::uint32_t tile = 0; tile < 64; ++tile) {
      EXPECT_EQ(done.stored(tile) >> 32U, 1U) << name_of(schedule) << ", tile " << tile;
      workers.insert(done.stored(tile) & 0xffffffffU);
    }
  }
  EXPECT_EQ(workers.size(), 4U) << "blocks that have done some";
}

TEST(ResidentClusters, ACounterThatIsNotAtomicRaces) {
  expect_found(shared_work("ld.global.u32 %r4, [%w3];\nadd.u32 %r5, %r4, 1;\n"
                           "st.global.u32 [%w3], %r5;\n"),
               "race", "out + 8192 bytes", {.threads = 64, .blocks = 4}, false);
}

/// A lane waits for a lock that another lane of its warp holds. Both must make progress.
TEST(ResidentClusters, LanesOfAWarpTakeALockInTurns) {
  const std::string text = kernel_text(
      kFlag +
      "LOCK: atom.acquire.gpu.global.cas.b32 %r4, [%w3], 0, 1;\nsetp.ne.u32 %p1, %r4, 0;\n"
      "@%p1 bra LOCK;\nld.global.u32 %r5, [%w3+8];\nadd.u32 %r5, %r5, 1;\n"
      "st.global.u32 [%w3+8], %r5;\nst.release.gpu.global.u32 [%w3], 0;\n"
      "ld.relaxed.gpu.global.u32 %r6, [%w3+8];\nst.global.u32 [%w2], %r6;\n");
  Trial trial{.threads = 64, .blocks = 2};
  trial.output_bytes = 16 * 1024;
  for (const Schedule& schedule : all_schedules()) {
    trial.schedule = schedule;
    const Emulated done = emulate(text, trial);
    EXPECT_TRUE(done.result.finished) << name_of(schedule);
    std::uint64_t most = 0;
    for (std::uint32_t thread = 0; thread < trial.threads; ++thread) {
      most = std::max(most, done.stored(thread));
    }
    EXPECT_EQ(most, 128U) << name_of(schedule);
  }
}

/// Warp 0 polls a flag that warp 1 sets when a bulk copy has landed. The copy must land although
/// some warp can always run.
TEST(ResidentClusters, CopiesLandWhileOthersPoll) {
  expect_clean(
      kernel_text(".shared .align 128 .b8 tile[64]; .shared .align 8 .b8 bar[8];\n"
                  ".shared .align 4 .b8 flag[4];\nmov.u32 %r1, tile;\nmov.u32 %r2, bar;\n"
                  "mov.u32 %r3, flag;\nsetp.eq.u32 %p1, %r0, 0;\nsetp.eq.u32 %p4, %r0, 32;\n"
                  "@%p1 mbarrier.init.shared.b64 [%r2], 1;\n@%p1 st.shared.u32 [%r3], 0;\n"
                  "bar.sync 0;\nsetp.lt.u32 %p2, %r0, 32;\n@%p2 bra POLL;\n@!%p4 ret;\n"
                  "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 64;\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%w0], "
                  "64, [%r2];\n"
                  "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0;\n@!%p3 bra WAIT;\n"
                  "st.release.cta.shared.u32 [%r3], 1;\nret;\n"
                  "POLL: ld.acquire.cta.shared.u32 %r4, [%r3];\nsetp.eq.u32 %p3, %r4, 0;\n"
                  "@%p3 bra POLL;\nld.shared.u32 %r5, [%r1];\nst.global.u32 [%w2], %r5;\n"),
      {.threads = 64});
}

}  // namespace
}  // namespace fatune::emulate
