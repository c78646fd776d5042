#include "emulator/ptx/data_flow.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "emulator/ptx/parse_ptx.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Returns each undefined read as text: "%r1 in add.s32 %r2, %r1, 1".
std::vector<std::string> found_in(const std::string& body) {
  const PtxModule module =
      parse_ptx(".visible .entry k()\n{\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n" +
                    body + "\nret;\n}\n",
                "test.ptx");
  const PtxFunction& function = module.functions.at(0);
  std::vector<std::string> found;
  for (const UndefinedRead& read : find_undefined_reads(function)) {
    found.push_back(fmt::format("{} in {}", function.registers.at(read.reg),
                                function.statements.at(read.statement).text));
  }
  return found;
}

TEST(UndefinedReads, ARegisterThatNobodyWrites) {
  EXPECT_THAT(found_in("add.s32 %r2, %r1, 1;"), ElementsAre("%r1 in add.s32 %r2, %r1, 1"));
  EXPECT_THAT(found_in("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 1;"), IsEmpty());
}

TEST(UndefinedReads, AWriteAfterwardsIsTooLate) {
  EXPECT_THAT(found_in("add.s32 %r2, %r1, 1;\nmov.u32 %r1, 0;"),
              ElementsAre("%r1 in add.s32 %r2, %r1, 1"));
}

TEST(UndefinedReads, AnAccumulatorThatIsNotSetToZero) {
  const std::string mma =
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3}, "
      "{%f0, %f1, %f2, %f3};";
  const std::string inputs = "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n";
  EXPECT_THAT(found_in(inputs + mma), testing::SizeIs(4));
  EXPECT_THAT(found_in(inputs +
                       "mov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\n"
                       "mov.f32 %f3, %f0;\n" +
                       mma),
              IsEmpty());
}

TEST(UndefinedReads, WhatALoopsFormerTripWroteCounts) {
  EXPECT_THAT(found_in("$again:\nadd.s32 %r2, %r1, 1;\nmov.u32 %r1, %r2;\n"
                       "setp.lt.s32 %p1, %r2, 9;\n@%p1 bra $again;"),
              IsEmpty())
      << "who can say that the first trip's value matters";
}

TEST(UndefinedReads, ASumThatALoopAddsToWasNothingBeforeIt) {
  const std::string loop =
      "$again:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra $again;";
  EXPECT_THAT(found_in(loop), testing::Contains("%r1 in add.s32 %r1, %r1, 1"));
  EXPECT_THAT(found_in("mov.u32 %r1, 0;\n" + loop), IsEmpty());
}

TEST(UndefinedReads, OnePathThatWritesIsEnoughForSilence) {
  const std::string branch = "setp.eq.s32 %p1, 1, 1;\n@%p1 bra $else;\n";
  EXPECT_THAT(found_in(branch + "mov.u32 %r1, 1;\n$else:\nadd.s32 %r2, %r1, 1;"), IsEmpty());
  EXPECT_THAT(found_in(branch + "mov.u32 %r3, 1;\n$else:\nadd.s32 %r2, %r1, 1;"),
              ElementsAre("%r1 in add.s32 %r2, %r1, 1"));
  EXPECT_THAT(found_in("setp.eq.s32 %p1, 1, 1;\n@%p1 mov.u32 %r1, 1;\nadd.s32 %r2, %r1, 1;"),
              IsEmpty());
}

TEST(UndefinedReads, ACopyOfNothingIsNothing) {
  EXPECT_THAT(found_in("mov.u32 %r1, %r0;\nmov.b32 %r2, %r1;\nadd.s32 %r3, %r2, 1;"),
              ElementsAre("%r2 in add.s32 %r3, %r2, 1"));
  EXPECT_THAT(found_in("mov.u32 %r0, 5;\nselp.b32 %r1, %r0, %r8, %p0;\nadd.s32 %r3, %r1, 1;"),
              IsEmpty())
      << "one of both is defined";
}

TEST(UndefinedReads, AnUndefinedGuardIsRead) {
  EXPECT_THAT(found_in("@%p1 bra $end;\n$end:"), ElementsAre("%p1 in @%p1 bra $end"));
}

TEST(UndefinedReads, WgmmaMayIgnoreItsAccumulators) {
  EXPECT_THAT(found_in("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, 0, "
                       "0, 0, 1, 1, 0, 0;\nadd.f32 %f4, %f0, %f1;"),
              IsEmpty());
}

}  // namespace
}  // namespace fatune
