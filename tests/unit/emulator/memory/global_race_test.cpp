#include <gmock/gmock.h>

#include "unit/emulator/planted_fault.hpp"

// Races in global memory, between blocks and within a block.
namespace fatune::emulate {
namespace {

const std::string kBlock = "mov.u32 %r1, %ctaid.x;\n";
/// Sets %w3 to the thread's own 16 bytes of `out` in the whole grid.
const std::string kOwnRow = kBlock +
                            "mov.u32 %r2, %ntid.x;\nmad.lo.u32 %r3, %r1, %r2, %r0;\n"
                            "mad.wide.u32 %w3, %r3, 16, %w1;\n";
constexpr std::uint32_t kBlocks = 3;

TEST(GlobalRace, BlocksThatWriteTheSame) {
  expect_found(kernel_text("st.global.u32 [%w2], %r0; // here\n"), "race",
               "writes out + 0 bytes, which thread 0 of block 0 writes", {.blocks = kBlocks});
}

TEST(GlobalRace, BlocksThatWriteApart) {
  expect_clean(kernel_text(kOwnRow + "st.global.v4.u32 [%w3], {%r0, %r0, %r0, %r0};\n"),
               {.blocks = kBlocks});
}

TEST(GlobalRace, BytesOfAWord) {
  const std::string text = kOwnRow + "cvt.u64.u32 %w4, %r3;\nadd.u64 %w4, %w1, %w4;\n";
  expect_clean(kernel_text(text + "st.global.u8 [%w4], %r0;\n"), {.blocks = kBlocks});
  expect_found(kernel_text(text + "st.global.u16 [%w3+4], %r0;\nst.global.u16 [%w2+4], %r0;\n"),
               "race", "of block 0 writes", {.blocks = kBlocks});
}

TEST(GlobalRace, ABlockReadsWhatAnotherWrites) {
  expect_found(
      kernel_text(kOwnRow + "st.global.u32 [%w3], %r0;\nld.global.u32 %r5, [%w2]; // here\n"),
      "race", "reads out + 0 bytes, which thread 0 of block 0 writes", {.blocks = kBlocks});
}

TEST(GlobalRace, ABlockWritesWhatAnotherReads) {
  expect_found(kernel_text(kBlock + "setp.eq.u32 %p1, %r1, 1;\n@%p1 bra WRITE;\n"
                                    "ld.global.u32 %r5, [%w2];\nret;\n"
                                    "WRITE: st.global.u32 [%w2], %r0; // here\n"),
               "race", "which thread 0 of block 0 reads", {.blocks = 2});
}

TEST(GlobalRace, AtomicsOfBlocksDoNotRace) {
  expect_clean(
      kernel_text("red.global.add.u32 [%w1], 1;\natom.global.max.u32 %r5, [%w1+8], %r0;\n"),
      {.blocks = kBlocks});
}

TEST(GlobalRace, APlainReadRacesWithAnAtomic) {
  expect_found(kernel_text("red.global.add.u32 [%w1], 1;\nld.global.u32 %r5, [%w1]; // here\n"),
               "race", "reads out + 0 bytes", {.blocks = kBlocks});
}

// --- Threads of one block ---

constexpr std::uint32_t kThreads = 96;

/// Each thread writes its row, and reads the row of the thread 32 places after it.
std::string passed_on(const std::string& between) {
  return kernel_text("st.global.u32 [%w2], %r0;\n" + between +
                     "add.u32 %r4, %r0, 32;\nrem.u32 %r4, %r4, 96;\n"
                     "mad.wide.u32 %w4, %r4, 16, %w1;\nld.global.u32 %r5, [%w4]; // here\n");
}

TEST(GlobalRace, ABarrierOrdersABlock) {
  expect_clean(passed_on("bar.sync 0;\n"), {.threads = kThreads});
}

TEST(GlobalRace, WithoutABarrierABlockRaces) {
  expect_found(kernel_text("xor.b32 %r4, %r0, 32;\nmad.wide.u32 %w4, %r4, 16, %w1;\n"
                           "st.global.u32 [%w2], %r0;\nst.global.u32 [%w4], %r0;\n"),
               "race", "writes out + ", {.threads = 64});
  // The finding is at the read or at the write, depending on which comes first.
  expect_found(kernel_text("xor.b32 %r4, %r0, 32;\nmad.wide.u32 %w4, %r4, 16, %w1;\n"
                           "st.global.u32 [%w2], %r0;\nld.global.u32 %r5, [%w4];\n"),
               "race", "out + ", {.threads = 64});
}

TEST(GlobalRace, LanesOfAWarp) {
  const std::string write = "st.global.u32 [%w2], %r0;\n";
  const std::string read =
      "xor.b32 %r4, %r0, 1;\nmad.wide.u32 %w4, %r4, 16, %w1;\nld.global.u32 %r5, [%w4];\n";
  expect_found(kernel_text(write + read), "race", "reads out + ", {});
  expect_clean(kernel_text(write + "bar.warp.sync 0xffffffff;\n" + read), {});
}

TEST(GlobalRace, AnAsynchronousCopyReads) {
  const std::string copy =
      ".shared .align 16 .b8 room[2048];\nmov.u32 %r4, room;\nmad.lo.u32 %r4, %r0, 16, %r4;\n"
      "cp.async.ca.shared.global [%r4], [%w3], 16;\ncp.async.wait_all;\n";
  expect_clean(kernel_text(kOwnRow + copy + "st.global.u32 [%w3], %r0;\n"), {.blocks = kBlocks});
  expect_found(kernel_text(kOwnRow + "st.global.u32 [%w2], 0;\nmov.u64 %w3, %w2;\n" + copy), "race",
               "of block 0", {.blocks = kBlocks}, false);
}

// --- The last block to arrive reads what all have written ---

struct Handed {
  const char* name;
  const char* written;   ///< code between a block's writes and its barrier
  const char* counted;   ///< code of thread 0 that sets %r5 to the number of earlier blocks
  const char* received;  ///< code between counting and reading
  bool ordered;
};

class LastBlock : public testing::TestWithParam<Handed> {};

TEST_P(LastBlock, ReadsWhatTheOthersHaveWritten) {
  const auto& [name, written, counted, received, ordered] = GetParam();
  const std::string text = kernel_text(
      kOwnRow + ".shared .align 4 .b8 room[4];\nmov.u32 %r4, room;\nst.global.u32 [%w3], %r0;\n" +
      written + "bar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra WAIT;\n" + counted + received +
      "st.shared.u32 [%r4], %r5;\nWAIT: bar.sync 0;\nld.shared.u32 %r5, [%r4];\n"
      "setp.ne.u32 %p2, %r5, 2;\n@%p2 ret;\n"
      "ld.global.u32 %r6, [%w2];\nld.global.u32 %r7, [%w2+1024];\n");
  const Trial trial{.threads = 64, .blocks = kBlocks};
  if (ordered) {
    expect_clean(text, trial);
  } else {
    // Which block's rows it names depends on which block comes last.
    expect_found(text, "race", "with no synchronisation in between", trial);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LastBlock,
    testing::Values(
        Handed{"Fences", "membar.gl;\n", "atom.global.add.u32 %r5, [%w1+8192], 1;\n",
               "membar.gl;\n", true},
        Handed{"Orders", "", "atom.acq_rel.gpu.global.add.u32 %r5, [%w1+8192], 1;\n", "", true},
        Handed{"NoRelease", "", "atom.global.add.u32 %r5, [%w1+8192], 1;\n", "membar.gl;\n", false},
        Handed{"NoAcquire", "membar.gl;\n", "atom.global.add.u32 %r5, [%w1+8192], 1;\n", "", false},
        Handed{"Nothing", "", "atom.global.add.u32 %r5, [%w1+8192], 1;\n", "", false}),
    [](const auto& handed) { return std::string(handed.param.name); });

}  // namespace
}  // namespace fatune::emulate
