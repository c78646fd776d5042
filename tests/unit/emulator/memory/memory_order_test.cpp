#include <gmock/gmock.h>

#include "unit/emulator/emulated_kernel.hpp"

// Atomics and strong accesses: what they compute with many threads, and what they order.
namespace fatune::emulate {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kCounter =
    ".shared .align 8 .b8 room[16];\nmov.u32 %r1, room;\n"
    "st.shared.u32 [%r1], 0;\nst.shared.u32 [%r1+4], 0;\n";

/// Thread 0 alone clears the counter, and all threads wait for it.
const std::string kClearedCounter =
    ".shared .align 8 .b8 room[16];\nmov.u32 %r1, room;\nsetp.ne.u32 %p1, %r0, 0;\n"
    "@%p1 bra READY;\nst.shared.u64 [%r1], 0;\nREADY: bar.sync 0;\n";

/// Warp 0 writes a word, then a flag; warp 1 reads the flag until it is set, then the word.
std::string hand_over(const std::string& set, const std::string& get) {
  return kClearedCounter +
         "mov.u32 %r2, 1;\nmov.u32 %r5, 7;\nsetp.ge.u32 %p2, %r0, 32;\n@%p2 bra READER;\n"
         "setp.ne.u32 %p3, %r0, 0;\n@%p3 ret;\nst.shared.u32 [%r1], %r5;\n" +
         set + "\nret;\nREADER: setp.ne.u32 %p3, %r0, 32;\n@%p3 ret;\nAGAIN: " + get +
         "\nsetp.eq.u32 %p4, %r3, 0;\n@%p4 bra AGAIN;\n"
         "ld.shared.u32 %r4, [%r1]; // here\nst.global.u32 [%w2], %r4;\n";
}

TEST(MemoryOrder, AtomicsOfManyThreadsDoNotRace) {
  const std::string text =
      kernel_text(kClearedCounter +
                  "atom.shared.add.u32 %r2, [%r1], 1;\nred.shared.max.u32 [%r1+4], %r0;\n"
                  "bar.sync 0;\nld.shared.v2.u32 {%r3, %r4}, [%r1];\n"
                  "mad.lo.u32 %r3, %r3, 1000, %r4;\nst.global.u32 [%w2], %r3;\n");
  for (const Schedule& schedule : all_schedules()) {
    const Emulated done = emulate(text, {.threads = 96, .schedule = schedule});
    EXPECT_THAT(done.findings(), IsEmpty()) << name_of(schedule);
    EXPECT_EQ(done.stored(0), 96'095U) << name_of(schedule);
    EXPECT_EQ(done.stored(95), 96'095U) << name_of(schedule);
  }
}

TEST(Barriers, CountVotes) {
  // Threads 0 to 49 of 96 vote yes.
  const std::string text = kernel_text(
      "setp.lt.u32 %p1, %r0, 50;\nbar.red.popc.u32 %r1, 0, %p1;\n"
      "barrier.cta.red.popc.aligned.u32 %r2, 1, 96, !%p1;\n"
      "bar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 0, 96, %p1;\n"
      "selp.u32 %r3, 10, 0, %p2;\nselp.u32 %r4, 1, 0, %p3;\nadd.u32 %r3, %r3, %r4;\n"
      "mad.lo.u32 %r1, %r1, 100, %r2;\nmad.lo.u32 %r1, %r1, 100, %r3;\n"
      "st.global.u32 [%w2], %r1;\n");
  for (const Schedule& schedule : all_schedules()) {
    const Emulated done = emulate(text, {.threads = 96, .schedule = schedule});
    EXPECT_THAT(done.findings(), IsEmpty()) << name_of(schedule);
    EXPECT_EQ(done.stored(0), 504'601U) << name_of(schedule);
    EXPECT_EQ(done.stored(95), 504'601U) << name_of(schedule);
  }
}

TEST(MemoryOrder, EveryThreadGetsAValueOfItsOwn) {
  const Emulated done =
      emulate(kernel_text("atom.global.inc.u32 %r2, [%w1+8192], 31;\nst.global.u32 [%w2], %r2;\n"));
  EXPECT_THAT(done.findings(), IsEmpty());
  std::uint64_t seen = 0;
  for (std::uint32_t thread = 0; thread < 32; ++thread) {
    seen |= std::uint64_t{1} << done.stored(thread);
  }
  EXPECT_EQ(seen, 0xffffffffU);
}

TEST(MemoryOrder, AVectorIsAddedByElements) {
  const Emulated done = emulate(kernel_text("st.global.v2.b32 [%w2], {0x3c004000, 0x42004400};\n"
                                            "mov.b32 %r1, 0x3c003c00;\n"
                                            "red.global.v2.f16x2.add.noftz [%w2], {%r1, %r1};\n"),
                                {.threads = 1});
  EXPECT_THAT(done.findings(), IsEmpty());
  EXPECT_EQ(done.stored(), 0x4400450040004200U);
}

TEST(MemoryOrder, APlainAccessRacesWithAnAtomic) {
  const std::string text = kernel_text(kClearedCounter +
                                       "setp.lt.u32 %p2, %r0, 32;\n@%p2 bra PLAIN;\n"
                                       "red.shared.add.u32 [%r1], 1;\nret;\n"
                                       "PLAIN: ld.shared.u32 %r2, [%r1];\n");
  for (const Schedule& schedule : all_schedules()) {
    EXPECT_THAT(emulate(text, {.threads = 64, .schedule = schedule}).findings(),
                Contains(StartsWith("race")))
        << name_of(schedule);
  }
}

TEST(MemoryOrder, LanesThatWriteAPlainWordTogetherRace) {
  EXPECT_THAT(emulate(kernel_text(kCounter)).findings(), Contains(StartsWith("race")));
}

struct HandOver {
  const char* set;
  const char* get;
  bool ordered;
};

class HandsOver : public testing::TestWithParam<HandOver> {};

TEST_P(HandsOver, WhatCameBefore) {
  const auto& [set, get, ordered] = GetParam();
  const std::string text = kernel_text(hand_over(set, get));
  for (const Schedule& schedule : all_schedules()) {
    const Emulated done = emulate(text, {.threads = 64, .schedule = schedule});
    if (ordered) {
      EXPECT_THAT(done.findings(), IsEmpty()) << name_of(schedule);
      EXPECT_EQ(done.stored(32), 7U) << name_of(schedule);
    } else {
      EXPECT_THAT(done.findings(), Contains(StartsWith("race"))) << name_of(schedule);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, HandsOver,
    testing::Values(HandOver{"st.release.cta.shared.u32 [%r1+4], %r2;",
                             "ld.acquire.cta.shared.u32 %r3, [%r1+4];", true},
                    HandOver{"red.release.cta.shared.add.u32 [%r1+4], %r2;",
                             "atom.acquire.cta.shared.or.b32 %r3, [%r1+4], 0;", true},
                    HandOver{"membar.cta;\nst.volatile.shared.u32 [%r1+4], %r2;",
                             "ld.volatile.shared.u32 %r3, [%r1+4];\nmembar.cta;", true},
                    HandOver{
                        "fence.acq_rel.cta;\natom.relaxed.cta.shared.exch.b32 %r6, [%r1+4], %r2;",
                        "ld.relaxed.cta.shared.u32 %r3, [%r1+4];\nfence.acq_rel.cta;", true},
                    // An order on one side only, or on neither, orders nothing.
                    HandOver{"st.relaxed.cta.shared.u32 [%r1+4], %r2;",
                             "ld.relaxed.cta.shared.u32 %r3, [%r1+4];", false},
                    HandOver{"st.release.cta.shared.u32 [%r1+4], %r2;",
                             "ld.relaxed.cta.shared.u32 %r3, [%r1+4];", false},
                    HandOver{"st.volatile.shared.u32 [%r1+4], %r2;",
                             "ld.volatile.shared.u32 %r3, [%r1+4];\nmembar.cta;", false}));

}  // namespace
}  // namespace fatune::emulate
