#include <gmock/gmock.h>

#include <fmt/format.h>

#include "unit/emulator/emulated_kernel.hpp"

// Wherever an instruction takes a predicate, ptxas accepts a register, a negated register, 0 or 1.
namespace fatune::emulate {
namespace {

struct Condition {
  const char* text;
  bool holds;
};

/// %p1 is true and %p2 is false.
constexpr Condition kConditions[]{{"%p1", true},  {"%p2", false}, {"!%p1", false},
                                  {"!%p2", true}, {"1", true},    {"0", false}};

/// Instructions that set %r5 to 1 if the condition "{}" holds, and to 0 otherwise.
constexpr const char* kInstructions[]{
    "selp.b32 %r5, 1, 0, {};",
    "mov.pred %p3, {};\nselp.b32 %r5, 1, 0, %p3;",
    "and.pred %p3, %p1, {};\nselp.b32 %r5, 1, 0, %p3;",
    "not.pred %p3, {};\nselp.b32 %r5, 0, 1, %p3;",
    "setp.eq.and.u32 %p3, %r0, %r0, {};\nselp.b32 %r5, 1, 0, %p3;",
    "set.eq.or.u32.u32 %r5, %r0, 1000, {};\nand.b32 %r5, %r5, 1;",
    "vote.sync.any.pred %p3, {}, -1;\nselp.b32 %r5, 1, 0, %p3;",
    "lop3.or.b32 %r4|%p3, 0, 0, 0, 128, {};\nselp.b32 %r5, 1, 0, %p3;",
    "bar.red.popc.u32 %r5, 0, {};\nshr.u32 %r5, %r5, 5;",
};

TEST(Conditions, MayBeNegatedOrImmediate) {
  for (const char* const instruction : kInstructions) {
    for (const auto& [text, holds] : kConditions) {
      const std::string statement = fmt::format(fmt::runtime(instruction), text);
      const Emulated done =
          emulate(kernel_text("setp.eq.u32 %p1, %r0, %r0;\nsetp.ne.u32 %p2, %r0, %r0;\n" +
                              statement + "\nst.global.u32 [%w2], %r5;\n"));
      EXPECT_THAT(done.findings(), testing::IsEmpty()) << statement;
      EXPECT_EQ(done.stored(7), holds ? 1U : 0U) << statement;
    }
  }
}

}  // namespace
}  // namespace fatune::emulate
