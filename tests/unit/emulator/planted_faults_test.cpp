#include <gmock/gmock.h>

#include <fmt/format.h>

#include "unit/emulator/emulated_kernel.hpp"
#include "unit/emulator/planted_fault.hpp"

// Kernels with one mistake each. The statement that the finding belongs to is marked with
// "// here"; `repaired` is the same kernel without the mistake.
namespace fatune::emulate {
namespace {

struct Fault {
  std::string name;
  std::string wrong;
  std::string repaired;
  std::string kind;
  std::string says;  ///< must be in the finding's text
  std::uint32_t threads = 64;
  bool alone = true;  ///< the mistake causes no other kind of finding
};

/// Each thread copies 16 bytes of `in` to its place in the tile.
const std::string kCopy =
    ".shared .align 16 .b8 tile[1024];\n"
    "mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\nadd.u32 %r3, %r1, %r2;\n"
    "cvt.u64.u32 %w3, %r2;\nadd.u64 %w4, %w0, %w3;\n"
    "cp.async.cg.shared.global [%r3], [%w4], 16;\ncp.async.commit_group;\n";
const std::string kReadOwn = "ld.shared.u32 %r4, [%r3]; // here\nst.global.u32 [%w2], %r4;\n";

/// All words are first set to 0. Then thread t writes word t and reads word 63 - t, which belongs
/// to the other warp.
std::string exchange(const std::string& barrier) {
  return ".shared .align 4 .b8 tile[256];\n"
         "mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\nadd.u32 %r3, %r1, %r2;\n"
         "st.shared.u32 [%r3], 0;\nbar.sync 0;\nst.shared.u32 [%r3], %r0;\n" +
         barrier +
         "xor.b32 %r5, %r2, 252;\nadd.u32 %r5, %r1, %r5;\n"
         "ld.shared.u32 %r4, [%r5]; // here\nst.global.u32 [%w2], %r4;\n";
}

/// Two groups of copies. The group that is committed last is read.
std::string two_stages(const std::string& wait) {
  return ".shared .align 16 .b8 tile[2048];\n"
         "mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\nadd.u32 %r3, %r1, %r2;\n"
         "cvt.u64.u32 %w3, %r2;\nadd.u64 %w4, %w0, %w3;\n"
         "cp.async.cg.shared.global [%r3+1024], [%w4], 16;\ncp.async.commit_group;\n"
         "cp.async.cg.shared.global [%r3], [%w4], 16;\ncp.async.commit_group;\n" +
         wait + kReadOwn + "cp.async.wait_all;\n";
}

/// Each thread writes a row of 16 bytes. The tile has `rows` rows.
std::string rows(int rows) {
  return fmt::format(
      ".shared .align 16 .b8 tile[{}];\n"
      "mov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\nadd.u32 %r3, %r1, %r2;\n"
      "st.shared.v4.u32 [%r3], {{%r0, %r0, %r0, %r0}}; // here\n",
      16 * rows);
}

std::string global_read(int offset) {
  return fmt::format(
      "shl.b32 %r2, %r0, 6;\ncvt.u64.u32 %w3, %r2;\nadd.u64 %w4, %w0, %w3;\n"
      "ld.global.u32 %r4, [%w4+{}]; // here\nst.global.u32 [%w2], %r4;\n",
      offset);
}

/// A ring of two stages, of which the first `stages` are filled and the second is read.
std::string ring(int stages) {
  std::string text =
      ".shared .align 4 .b8 tile[512];\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\n"
      "add.u32 %r3, %r1, %r2;\n";
  for (int stage = 0; stage < stages; ++stage) {
    text += fmt::format("st.shared.u32 [%r3+{}], %r0;\n", 256 * stage);
  }
  return text + "bar.sync 0;\nld.shared.u32 %r4, [%r3+256]; // here\nst.global.u32 [%w2], %r4;\n";
}

/// Only threads below `count` reach the barrier.
std::string guarded_barrier(int count) {
  return fmt::format(
      "setp.lt.u32 %p1, %r0, {};\n@!%p1 bra DONE;\nbar.sync 0; // here\n"
      "DONE: bar.sync 1;\nret;\n",
      count);
}

std::vector<Fault> faults() {
  return {
      {"MissingBarrier", exchange(""), exchange("bar.sync 0;\n"), "race", "shared memory + "},
      {"WarpBarrierForBlock", exchange("bar.warp.sync -1;\n"), exchange("barrier.sync 0;\n"),
       "race", "with no synchronisation in between"},
      {"MissingCopyWait", kCopy + kReadOwn + "cp.async.wait_all;\n",
       kCopy + "cp.async.wait_all;\n" + kReadOwn, "in_flight", "asynchronous copy of thread "},
      {"WrongWaitCount", two_stages("cp.async.wait_group 1;\n"),
       two_stages("cp.async.wait_group 0;\n"), "in_flight", "asynchronous copy of thread "},
      {"SharedOverrun", rows(63), rows(64), "out_of_bounds",
       "16 bytes at shared memory + 1008, which has 1008 bytes"},
      {"GlobalReadPastEnd", global_read(64), global_read(0), "out_of_bounds",
       "4 bytes at 0 bytes after the end of in"},
      {"UninitialisedStage", ring(1), ring(2), "uninitialised", "which no thread has written"},
      {"BarrierInHalfAWarp", guarded_barrier(48), guarded_barrier(64), "divergent_barrier",
       "no warp can go on"},
      {"BarrierInHalfTheBlock", guarded_barrier(32), guarded_barrier(64), "deadlock",
       "warp 0, all lanes: waits at barrier 0"},
      {"PendingAtExit",
       ".shared .align 16 .b8 tile[1024];\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\n"
       "add.u32 %r3, %r1, %r2;\ncp.async.ca.shared.global [%r3], [%w0], 16; // here\n",
       kCopy + "cp.async.wait_group 0;\n", "pending_at_exit", "without waiting for its copy"},
      {"MisalignedShared",
       ".shared .align 16 .b8 tile[64];\nmov.u32 %r1, tile;\n"
       "ld.shared.v2.u32 {%r4, %r5}, [%r1+4]; // here\n",
       ".shared .align 16 .b8 tile[64];\nmov.u32 %r1, tile;\nst.shared.u32 [%r1+4], 0;\n"
       "ld.shared.u32 %r4, [%r1+4];\n",
       "misaligned", "which is not a multiple of 8", 1},
      {"MisalignedGlobal", "st.global.u64 [%w2+4], %w0; // here\n", "st.global.u64 [%w2+8], %w0;\n",
       "misaligned", "which is not a multiple of 8"},
      {"Trap", "setp.eq.u32 %p1, %r0, 40;\n@%p1 trap; // here\n",
       "setp.eq.u32 %p1, %r0, 64;\n@%p1 trap;\n", "trap", "trap"},
      {"BarrierForMoreThanThereAre", "bar.sync 0, 128; // here\n", "bar.sync 0, 64;\n", "deadlock",
       "waits at barrier 0"},
      {"BarrierCountsDiffer",
       "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra LOW;\nbar.sync 1, 64;\nret;\n"
       "LOW: bar.sync 1, 96;\nret;\n",
       "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra LOW;\nbar.sync 1, 64;\nret;\n"
       "LOW: bar.sync 1, 64;\nret;\n",
       "barrier_misuse", "but others wait there for", 64, false},
      {"BarrierNumber", "bar.sync 16; // here\n", "bar.sync 15;\n", "barrier_misuse", "barrier 16"},
      {"ShuffleOfAnInactiveLane",
       "setp.lt.u32 %p1, %r0, 16;\n@!%p1 bra END;\n"
       "shfl.sync.down.b32 %r1, %r0, 1, 31, 0xffff; // here\nEND: ret;\n",
       "setp.lt.u32 %p1, %r0, 16;\n@!%p1 bra END;\n"
       "shfl.sync.down.b32 %r1, %r0, 1, 0x100f, 0xffff;\nEND: ret;\n",
       "inactive_lane", "takes the value of lane 16", 32},
      {"Endless", "LOOP: bra LOOP; // here\n", "bra END;\nEND: ret;\n", "deadlock",
       "it seems never to end"},
  };
}

class PlantedFaults : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFaults, IsFoundUnderEverySchedule) {
  const Fault& fault = GetParam();
  expect_found(kernel_text(fault.wrong), fault.kind, fault.says, {.threads = fault.threads},
               fault.alone);
}

TEST_P(PlantedFaults, IsNotSeenWhereItIsNot) {
  expect_clean(kernel_text(GetParam().repaired), {.threads = GetParam().threads});
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFaults, testing::ValuesIn(faults()),
                         [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace fatune::emulate
