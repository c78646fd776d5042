#include <gmock/gmock.h>

#include <fmt/format.h>

#include "unit/emulator/emulated_kernel.hpp"

// The two ends of a race: the instruction, the thread and the block of each access.
namespace fatune::emulate {
namespace {

/// Returns both ends of the kernel's only finding, as "read at line 9 by thread 3 of block 0, write
/// at line 7 by thread 35 of block 0". Expects the finding to name `memory`.
std::string ends_of(const std::string& text, Trial trial, const std::string& memory) {
  trial.both_ends = true;
  trial.schedule = {Timing::late, 1};
  const Emulated done = emulate(text, trial);
  if (done.result.findings.all().size() != 1 || !done.result.findings.all().front().other) {
    return testing::PrintToString(done.findings());
  }
  const Finding& finding = done.result.findings.all().front();
  EXPECT_EQ(finding.memory, memory);
  const OtherAccess& other = *finding.other;
  return fmt::format(
      "{} at line {} by thread {} of block {}, {} at line {} by thread {} of block {}",
      name_of(finding.access.value()), done.lines.at(finding.instruction), finding.thread,
      finding.block, name_of(other.kind), done.lines.at(other.instruction), other.thread,
      other.block);
}

// The statements of kernel_text() begin at line 9.

TEST(BothEnds, OfSharedMemory) {
  const std::string text = kernel_text(
      ".shared .align 4 .b8 tile[256];\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\n"
      "add.u32 %r3, %r1, %r2;\nst.shared.u32 [%r3], %r0;\nbar.sync 0;\nst.shared.u32 [%r3], 7;\n"
      "xor.b32 %r5, %r2, 252;\nadd.u32 %r5, %r1, %r5;\nsetp.ge.u32 %p1, %r0, 32;\n"
      "@%p1 ld.shared.u32 %r4, [%r5];\n");
  EXPECT_EQ(ends_of(text, {.threads = 64}, "shared memory + 124"),
            "read at line 19 by thread 32 of block 0, write at line 15 by thread 31 of block 0");
}

TEST(BothEnds, OfACopyThatIsUnderWay) {
  const std::string text = kernel_text(
      ".shared .align 16 .b8 tile[512];\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\n"
      "add.u32 %r3, %r1, %r2;\ncp.async.cg.shared.global [%r3], [%w0], 16;\n"
      "ld.shared.u32 %r4, [%r3];\ncp.async.wait_all;\n");
  EXPECT_EQ(ends_of(text, {}, "shared memory + 0"),
            "read at line 14 by thread 0 of block 0, "
            "asynchronous write at line 13 by thread 0 of block 0");
}

TEST(BothEnds, OfGlobalMemoryInTwoBlocks) {
  const std::string text = kernel_text(
      "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra WRITE;\n"
      "ld.global.u32 %r5, [%w2];\nret;\nWRITE: st.global.u32 [%w2], %r0;\n");
  EXPECT_EQ(ends_of(text, {.blocks = 2}, "out + 0 bytes"),
            "write at line 14 by thread 0 of block 1, read at line 12 by thread 0 of block 0");
}

// A strong access races only with a plain one. The finding names the last access of each kind.
TEST(BothEnds, OfAnAtomic) {
  const std::string text = kernel_text(
      "red.global.add.u32 [%w1], 1;\nsetp.eq.u32 %p1, %r0, 5;\n"
      "@%p1 ld.global.u32 %r5, [%w1];\n");
  EXPECT_EQ(ends_of(text, {}, "out + 0 bytes"),
            "read at line 11 by thread 5 of block 0, write at line 9 by thread 31 of block 0");
}

// Their marks take many times as much memory as the allocation.
TEST(BothEnds, AreNotKeptInLargeAllocations) {
  const std::string text = kernel_text("st.global.u32 [%w1], %r0;\n");
  for (const std::size_t megabytes : {1U, 3U}) {
    const Emulated done = emulate(text, {.output_bytes = megabytes << 20U, .both_ends = true});
    ASSERT_EQ(done.result.findings.all().size(), 1U);
    EXPECT_EQ(done.result.findings.all().front().other.has_value(), megabytes == 1);
  }
}

TEST(BothEnds, AreNotKeptUnlessTheyAreAskedFor) {
  const std::string text = kernel_text("st.global.u32 [%w1], %r0;\n");
  const Emulated done = emulate(text, {});
  ASSERT_EQ(done.result.findings.all().size(), 1U);
  EXPECT_FALSE(done.result.findings.all().front().other);
}

}  // namespace
}  // namespace fatune::emulate
