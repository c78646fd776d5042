#include <gmock/gmock.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "unit/emulator/emulated_kernel.hpp"

namespace fatune::emulate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Declares a string in global memory, as NVRTC does.
std::string text_variable(const std::string& name, const std::string& text) {
  std::string bytes;
  for (const char c : text) {
    bytes += fmt::format("{}, ", static_cast<int>(c));
  }
  return fmt::format(".global .align 1 .b8 {}[{}] = {{{}0}};\n", name, text.size() + 1, bytes);
}

/// A call of printf(format, ...) as NVRTC compiles it. `arguments` is code that stores the further
/// arguments to [%w5].
std::string print(const std::string& format, const std::string& arguments) {
  return text_variable("$str", format) + text_variable("$name", "warp") +
         kernel_text(
             ".local .align 8 .b8 room[64];\nmov.u64 %w3, room;\ncvta.local.u64 %w4, %w3;\n"
             "mov.u64 %w5, room;\n" +
             arguments +
             "mov.u64 %w6, $str;\ncvta.global.u64 %w7, %w6;\n"
             "{ .param .b64 param0;\nst.param.b64 [param0+0], %w7;\n"
             ".param .b64 param1;\nst.param.b64 [param1+0], %w4;\n"
             ".param .b32 retval0;\ncall.uni (retval0), vprintf, (param0, param1);\n"
             "ld.param.b32 %r9, [retval0+0];\n}\nst.global.u32 [%w2], %r9;\n");
}

std::string printed(const std::string& format, const std::string& arguments, std::uint64_t count) {
  const Emulated done = emulate(print(format, arguments), {.threads = 1});
  EXPECT_THAT(done.findings(), IsEmpty());
  EXPECT_EQ(done.stored(), count) << format;
  return done.result.printed;
}

TEST(Printf, ConvertsItsArguments) {
  EXPECT_EQ(printed("none\n", "", 0), "none\n");
  EXPECT_EQ(
      printed("%d|%5u|%-4x|", "st.local.v2.u32 [%w5], {-3, 42};\nst.local.u32 [%w5+8], 255;\n", 3),
      "-3|   42|ff  |");
  EXPECT_EQ(printed("%.3f of %lld",
                    "st.local.f64 [%w5], 0d3ff8000000000000;\n"
                    "st.local.u64 [%w5+8], -5000000000;\n",
                    2),
            "1.500 of -5000000000");
  EXPECT_EQ(printed("100%% %c%hhd", "st.local.v2.u32 [%w5], {65, 7};\n", 2), "100% A7");
  EXPECT_EQ(printed("%*d", "st.local.v2.u32 [%w5], {6, 17};\n", 2), "    17");
}

TEST(Printf, AlignsArgumentsToTheirSize) {
  EXPECT_EQ(
      printed("%d %f", "st.local.u32 [%w5], 1;\nst.local.f64 [%w5+8], 0d4000000000000000;\n", 2),
      "1 2.000000");
}

TEST(Printf, PrintsStrings) {
  EXPECT_EQ(printed("<%6s>",
                    "mov.u64 %w8, $name;\ncvta.global.u64 %w8, %w8;\n"
                    "st.local.u64 [%w5], %w8;\n",
                    1),
            "<  warp>");
}

TEST(Printf, LeavesWhatIsNoConversion) { EXPECT_EQ(printed("%y %", "", 0), "%y %"); }

TEST(Printf, OfEveryThread) {
  const Emulated done = emulate(print("%d ", "st.local.u32 [%w5], %r0;\n"), {.threads = 3});
  EXPECT_EQ(done.result.printed, "0 1 2 ");
}

TEST(Printf, OfAStringThatIsNotThereIsAFinding) {
  const Emulated done = emulate(print("%s", "st.local.u64 [%w5], 4096;\n"), {.threads = 1});
  EXPECT_THAT(done.findings(), Contains(HasSubstr("out_of_bounds")));
}

TEST(Assertion, TellsWhereItFailed) {
  const std::string text =
      text_variable("$message", "x > 0") + text_variable("$file", "k.cu") +
      text_variable("$function", "f") +
      kernel_text(
          "setp.ne.u32 %p1, %r0, 5;\n@%p1 ret;\nmov.u64 %w3, $message;\nmov.u64 %w4, $file;\n"
          "mov.u64 %w5, $function;\n{ .param .b64 param0;\nst.param.b64 [param0+0], %w3;\n"
          ".param .b64 param1;\nst.param.b64 [param1+0], %w4;\n.param .b32 param2;\n"
          "st.param.b32 [param2+0], 17;\n.param .b64 param3;\nst.param.b64 [param3+0], %w5;\n"
          ".param .b64 param4;\nst.param.b64 [param4+0], 1;\n"
          "call.uni __assertfail, (param0, param1, param2, param3, param4); // here\n}\n");
  const Emulated done = emulate(text);
  EXPECT_FALSE(done.result.finished);
  EXPECT_THAT(done.findings(), ElementsAre(HasSubstr("k.cu:17: f: assertion `x > 0` failed")));
  EXPECT_EQ(done.result.findings.all().at(0).thread, 5U);
  EXPECT_STREQ(check_of(done.result.findings.all().at(0).kind), "trap");
}

TEST(Calls, OfOtherFunctionsAreNotCovered) {
  try {
    (void)emulate(kernel_text("{ .param .b64 p;\ncall.uni free, (p);\n}\n"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a call of 'free'"));
  }
}

TEST(Calls, RunAFunctionThatWasNotInlined) {
  // fibonacci(n), with a loop and an early return.
  const std::string function =
      ".func (.param .b32 func_retval0) fibonacci(.param .b32 fibonacci_param_0)\n{\n"
      ".reg .b32 %r<9>;\n.reg .pred %p<3>;\n.local .align 8 .b8 depot[8];\n"
      "ld.param.b32 %r1, [fibonacci_param_0];\nsetp.lt.u32 %p1, %r1, 2;\n"
      "st.param.b32 [func_retval0], %r1;\n@%p1 ret;\nst.local.u32 [depot], 0;\nmov.u32 %r3, 1;\n"
      "LOOP: ld.local.u32 %r2, [depot];\nadd.u32 %r4, %r2, %r3;\nst.local.u32 [depot], %r3;\n"
      "mov.u32 %r3, %r4;\nsub.u32 %r1, %r1, 1;\nsetp.gt.u32 %p1, %r1, 1;\n@%p1 bra LOOP;\n"
      "st.param.b32 [func_retval0], %r3;\nret;\n}\n";
  const auto call = [](const char* argument, const char* result) {
    return fmt::format(
        "{{\n.param .b32 param0;\nst.param.b32 [param0+0], {};\n.param .b32 retval0;\n"
        "call.uni (retval0), fibonacci, (param0);\nld.param.b32 {}, [retval0+0];\n}}\n",
        argument, result);
  };
  const Emulated done = emulate(function + kernel_text(call("%r0", "%r1") + call("10", "%r2") +
                                                       "mad.lo.u32 %r1, %r2, 1000000, %r1;\n"
                                                       "st.global.u32 [%w2], %r1;\n"));
  EXPECT_THAT(done.findings(), IsEmpty());
  EXPECT_EQ(done.stored(0), 55'000'000U);
  EXPECT_EQ(done.stored(1), 55'000'001U);
  EXPECT_EQ(done.stored(20), 55'006'765U);
}

/// Each thread branches to the label with the number %r1, which `index` sets.
std::string indexed_branch(const std::string& index) {
  return kernel_text("LIST: .branchtargets A, B, C;\n" + index +
                     "brx.idx %r1, LIST; // here\nA: mov.u32 %r2, 10;\nbra END;\n"
                     "B: mov.u32 %r2, 20;\nbra END;\nC: mov.u32 %r2, 30;\n"
                     "END: st.global.u32 [%w2], %r2;\n");
}

TEST(IndexedBranch, TakesEachLaneToItsLabel) {
  const Emulated done = emulate(indexed_branch("rem.u32 %r1, %r0, 3;\n"));
  EXPECT_THAT(done.findings(), IsEmpty());
  for (std::uint32_t thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(done.stored(thread), 10 * (thread % 3 + 1)) << thread;
  }
}

TEST(IndexedBranch, LeavesLanesThatDoNotBranch) {
  const Emulated done =
      emulate(kernel_text("LIST: .branchtargets A, B;\nmov.u32 %r1, 1;\nsetp.lt.u32 %p1, %r0, 4;\n"
                          "mov.u32 %r2, 5;\n@%p1 brx.idx %r1, LIST;\nmov.u32 %r2, 6;\nbra B;\n"
                          "A: mov.u32 %r2, 7;\nB: st.global.u32 [%w2], %r2;\n"));
  EXPECT_THAT(done.findings(), IsEmpty());
  EXPECT_EQ(done.stored(3), 5U);
  EXPECT_EQ(done.stored(4), 6U);
}

TEST(IndexedBranch, PastTheListIsAFinding) {
  const Emulated done = emulate(indexed_branch("shr.u32 %r1, %r0, 3;\n"));
  EXPECT_FALSE(done.result.finished);
  EXPECT_THAT(done.findings(), ElementsAre(HasSubstr("branches to target 3 of 3")));
}

TEST(Clocks, GoOn) {
  const Emulated done = emulate(kernel_text(
      "mov.u64 %w3, %clock64;\nnanosleep.u32 100;\nmov.u64 %w4, %globaltimer;\n"
      "setp.lt.u64 %p1, %w3, %w4;\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%w2], %r1;\n"));
  EXPECT_THAT(done.findings(), IsEmpty());
  EXPECT_EQ(done.stored(), 1U);
}

std::string limit_of(const std::string& text, const Trial& trial) {
  const Emulated done = emulate(text, trial);
  EXPECT_FALSE(done.result.finished);
  EXPECT_THAT(done.findings(), IsEmpty()) << "a limit is no mistake";
  return done.result.limit;
}

TEST(Printf, OutputBeyondTheLimitEndsTheLaunch) {
  const std::string text = print("0123456789", "");
  EXPECT_THAT(limit_of(text, {.threads = 32, .limits = {.printed_bytes = 25}}),
              HasSubstr("more than 25 bytes of printf's output"));
  const Emulated done = emulate(text, {.threads = 2, .limits = {.printed_bytes = 20}});
  EXPECT_EQ(done.result.printed.size(), 20U);
  EXPECT_TRUE(done.result.finished);
}

TEST(Printf, TextBeyondTheLimitEndsTheLaunch) {
  EXPECT_THAT(limit_of(print("%.0s", "st.local.u64 [%w5], 0;\n"),
                       {.threads = 1, .limits = {.text_bytes = 3}}),
              HasSubstr("more than 3 bytes of text for printf"));
}

}  // namespace
}  // namespace fatune::emulate
