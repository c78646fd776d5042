#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Returns the text of each statement: "label: @guard opcode operands".
std::vector<std::string> texts_of(const PtxFunction& function) {
  std::vector<std::string> texts;
  for (const PtxStatement& statement : function.statements) {
    std::string text;
    for (const std::string& label : statement.labels) {
      text += label + ": ";
    }
    text += (statement.guard.empty() ? "" : "@" + statement.guard + " ") + statement.opcode;
    for (const std::string& operand : statement.operands) {
      text += " " + operand;
    }
    texts.push_back(text);
  }
  return texts;
}

const std::string kTwice =
    ".func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)\n{\n.reg .b32 %r<3>;\n"
    "ld.param.b32 %r1, [twice_param_0+0];\nadd.u32 %r2, %r1, %r1;\n"
    "st.param.b32 [func_retval0+0], %r2;\nret;\n}\n";

InlinedFunction inlined(const std::string& text) {
  const PtxModule module = parse_ptx(text, "test.ptx");
  return inline_calls(module, module.functions.back());
}

std::string kernel(const std::string& statements) {
  return ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\n" + statements +
         "}\n";
}

const std::string kCall =
    "{\n.param .b32 param0;\n.param .b32 retval0;\nst.param.b32 [param0+0], %r1;\n"
    "call.uni (retval0), twice, (param0);\nld.param.b32 %r2, [retval0+0];\n}\n";

TEST(InlineCalls, PutsTheFunctionInPlaceOfTheCall) {
  const InlinedFunction result = inlined(kTwice + kernel("mov.u32 %r1, 5;\n" + kCall + "ret;\n"));
  EXPECT_THAT(
      texts_of(result.function),
      ElementsAre("mov.u32 %r1 5", "st.param.b32 [param0+0] %r1", "ld.param.b32 %r1 [param0+0]",
                  "add.u32 %r2 %r1 %r1", "st.param.b32 [retval0+0] %r2", "bra $end$call1",
                  "$end$call1: ld.param.b32 %r2 [retval0+0]", "ret"));
  EXPECT_THAT(result.statements, ElementsAre(0, 1, 2, 2, 2, 2, 3, 4));
}

TEST(InlineCalls, KeepsRegistersApart) {
  const InlinedFunction result = inlined(kTwice + kernel("mov.u32 %r1, 5;\n" + kCall + "ret;\n"));
  const std::vector<PtxStatement>& statements = result.function.statements;
  EXPECT_EQ(result.function.registers.size(), result.function.register_types.size());
  EXPECT_NE(statements[0].writes, statements[2].writes);  // the kernel's %r1, the function's %r1
  EXPECT_EQ(statements[0].writes, statements[1].reads);
  EXPECT_EQ(result.function.registers.at(statements[2].writes.at(0)), "%r1");
}

TEST(InlineCalls, BranchesAroundAGuardedCall) {
  const InlinedFunction result =
      inlined(".func f()\n{\nAGAIN: bra AGAIN;\n}\n" + kernel("HERE: @%p1 call f;\n"));
  EXPECT_THAT(
      texts_of(result.function),
      ElementsAre("HERE: @!%p1 bra $end$call1", "AGAIN$call1: bra AGAIN$call1", "$end$call1: ret"));
}

TEST(InlineCalls, NestAndRenameTheirParameters) {
  const std::string outer =
      ".func outer(.param .b32 outer_param_0)\n{\n.reg .b32 %r<3>;\n" + kCall + "ret;\n}\n";
  const InlinedFunction result = inlined(
      kTwice + outer +
      kernel("{\n.param .b32 param0;\nst.param.b32 [param0+0], 1;\ncall outer, (param0);\n}\n"));
  EXPECT_THAT(
      result.function.declarations,
      ElementsAre(".param .b32 param0", ".param .b32 param0$call1", ".param .b32 retval0$call1"));
  EXPECT_EQ(texts_of(result.function).at(2), "ld.param.b32 %r1 [param0$call1+0]");
}

TEST(InlineCalls, LeavesWhatItCannotInline) {
  for (const char* const text : {"call.uni vprintf, (a);\n", "call.uni %r1, (a), prototype_0;\n",
                                 "call.uni k;\n", "call.uni twice, (a);\n", "call.uni;\n"}) {
    const InlinedFunction result = inlined(kTwice + kernel(text));
    EXPECT_EQ(result.function.statements.size(), 1U) << text;
  }
  const InlinedFunction registers = inlined(".func (.reg .b32 %a) f(.reg .b32 %b)\n{\nret;\n}\n" +
                                            kernel("call (%r1), f, (%r2);\n"));
  EXPECT_EQ(registers.function.statements.size(), 1U);
}

TEST(InlineCalls, LeavesARecursiveCall) {
  const InlinedFunction result =
      inlined(".func f()\n{\ncall.uni f;\nret;\n}\n" + kernel("call.uni f;\nret;\n"));
  EXPECT_THAT(texts_of(result.function),
              ElementsAre("call.uni f", "bra $end$call1", "$end$call1: ret"));
}

TEST(InlineCalls, ThatGrowWithoutBoundsAreAnError) {
  std::string text = ".func f0()\n{\nret;\n}\n";
  for (int i = 1; i < 64; ++i) {
    text += fmt::format(".func f{0}()\n{{\ncall f{1};\ncall f{1};\n}}\n", i, i - 1);
  }
  EXPECT_THROW((void)inlined(text + kernel("call f63;\n")), Error);
}

TEST(InlineCalls, WithoutCallsNothingChanges) {
  const InlinedFunction result = inlined(kernel("mov.u32 %r1, 5;\nret;\n"));
  EXPECT_THAT(texts_of(result.function), ElementsAre("mov.u32 %r1 5", "ret"));
  EXPECT_THAT(result.function.declarations, IsEmpty());
}

}  // namespace
}  // namespace fatune
