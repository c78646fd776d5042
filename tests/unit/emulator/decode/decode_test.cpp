#include <fstream>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "emulator/decode/names.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "unit/emulator/emulated_kernel.hpp"

namespace fatune::emulate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& statements) {
  try {
    (void)emulate(kernel_text(statements));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file) << statements;
    return error.what();
  }
  return "no error";
}

/// The opcodes in the paragraph after "Opcodes of PTX:", which lists them as "`abs`, `add`".
std::vector<std::string> listed_opcodes() {
  std::ifstream in(FATUNE_EMULATE_DOC);
  std::string line;
  while (std::getline(in, line) && line != "Opcodes of PTX:") {
  }
  std::getline(in, line);
  std::vector<std::string> opcodes;
  while (std::getline(in, line) && !line.empty()) {
    for (std::size_t open = line.find('`'); open != std::string::npos;
         open = line.find('`', open)) {
      const std::size_t close = line.find('`', open + 1);
      opcodes.push_back(line.substr(open + 1, close - open - 1));
      open = close + 1;
    }
  }
  return opcodes;
}

TEST(Decode, CoversWhatTheDocumentationLists) {
  const std::vector<std::string_view> covered = covered_opcodes();
  EXPECT_THAT(listed_opcodes(), testing::ElementsAreArray(covered.begin(), covered.end()));
}

TEST(Decode, AnUncoveredOpcodeNamesItselfAndItsLine) {
  EXPECT_THAT(error_of("mov.u32 %r1, 0;\ntex.2d.v4.f32.f32 {%f1}, [%w0]; // here"),
              AllOf(HasSubstr("'tex.2d.v4.f32.f32' is not covered"), HasSubstr("line 10")));
}

TEST(Decode, WhatAnInstructionCannotHaveIsAnError) {
  for (const auto& [text, says] : std::vector<std::pair<const char*, const char*>>{
           {"add.u32 %w3, %r1, %r2;", "'%w3' has a different width"},
           {"add.u64 %w3, %r1, %w2;", "'%r1' has a different width"},
           {"add.u32 %r3, %r1, %nosuch;", "'%nosuch' is neither"},
           {"add.u32 %q3, %r1, %r2;", "there is no register '%q3'"},
           {"add.u32 5, %r1, %r2;", "there is no register '5'"},
           {"add.u32 %r3, %r1, _;", "'_' is neither"},
           {"mov.u32 %tid.x, %r1;", "'%tid.x' cannot be written"},
           {"add.u32 %r3, %r1;", "an operand is missing"},
           {"add %r3, %r1, %r2;", "the type is missing"},
           {"bar 0;", "only sync, arrive and red"},
           {"barrier.cta 0;", "only sync, arrive and red"},
           {"bra NOWHERE;", "there is no label 'NOWHERE'"},
           {"@%r1 bra END; END: ret;", "there is no predicate '%r1'"},
           {"@%p1;", "the opcode is missing"},
           {"ld.global.v4.u32 {%r1, %r2}, [%w0];", "wrong number of registers"},
           {"mov.b64 {%r1, %r2, %r3}, %w0;", "not covered"},
           {"cp.async.ca.shared.global [%r1], [%w0], 0;", "a copy must have 4, 8 or 16 bytes"},
           {"cp.async.cg.shared.global [%r1], [%w0], 8;", "a copy must have 4, 8 or 16 bytes"},
           {"cp.async.wait_group -1;", "wrong number of groups"},
           {"cvt.f32.s32 %f1, %r1;", "without a rounding"},
           {"add.relu.f32 %f1, %f2, %f3;", "this modifier"},
           {"setp.eq.f32 %p1|%q1, %f2, %f3;", "there is no predicate '%q1'"},
           {"setp.lt.e4m3x2 %p1, %r1, %r2;", "this type"},
           {"lop3.b32 %r1, %r2, %r3, %r4;", "this form"},
           {"cvt.rn.e4m3x2.f32 %h1, %f1, %f2;", "this form"},
           {".shared .b8 x[4294967295];", "this declaration is too large to be emulated"},
           {".shared .b8 x[232449];", "are more than can be emulated"},
           {".local .b8 x[16777216];", "are more than can be emulated"},
       }) {
    EXPECT_THAT(error_of(std::string(text) + "\nret;"), HasSubstr(says)) << text;
  }
}

TEST(Decode, ARegisterMayBeDeclaredWithoutABlank) {
  const Emulated done =
      emulate(kernel_text("{ .reg.b16 low, high;\nmov.b32 {low, high}, 0x00070003;\n"
                          "cvt.u32.u16 %r1, high;\n}\nst.global.u32 [%w2], %r1;\n"));
  EXPECT_EQ(done.stored(), 7U);
}

TEST(Decode, ALabelMayStandBehindTheLastStatement) {
  const Emulated done = emulate(kernel_text(
      "mov.u32 %r1, 7;\nst.global.u32 [%w2], %r1;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bra END;\n"
      "mov.u32 %r1, 8;\nst.global.u32 [%w2], %r1;\nEND:\n"));
  EXPECT_EQ(done.stored(3), 7U);
  EXPECT_EQ(done.stored(20), 8U);
  EXPECT_TRUE(done.result.finished);
}

TEST(Decode, ResultsThatNobodyWantsGoNowhere) {
  const Emulated done = emulate(
      kernel_text("ld.global.v2.u32 {_, %r1}, [%w0];\nshfl.sync.idx.b32 _|%p1, %r0, 0, 31, -1;\n"
                  "add.u32 _, %r0, 1;\nst.global.u32 [%w2], %r0;\n"));
  EXPECT_THAT(done.findings(), testing::IsEmpty());
  EXPECT_EQ(done.stored(31), 31U);
}

Declarations declared(const std::string& text) {
  const PtxModule module = parse_ptx(text, "test.ptx");
  return read_declarations(module, module.functions.at(0));
}

TEST(Declarations, ParametersFollowEachOtherAligned) {
  const Declarations d = declared(
      ".visible .entry k(.param .u32 a, .param .u64 .ptr .global .align 16 b, .param .u8 c,\n"
      " .param .align 64 .b8 map[128])\n{\nret;\n}");
  EXPECT_EQ(d.addresses.at("a"), 0U);
  EXPECT_EQ(d.addresses.at("b"), 8U);
  EXPECT_EQ(d.addresses.at("c"), 16U);
  EXPECT_EQ(d.addresses.at("map"), 64U);
  EXPECT_EQ(d.parameter_bytes, 192U);
}

TEST(Declarations, DynamicSharedMemoryComesLast) {
  const Declarations d = declared(
      ".extern .shared .align 128 .b8 dynamic[];\n.entry k()\n{\n"
      ".shared .align 4 .b8 first[6];\n.shared .f32 second[2][3];\nret;\n}");
  EXPECT_EQ(d.addresses.at("second") - d.addresses.at("first"), 8U);
  EXPECT_EQ(d.static_shared_bytes, 32U);
  EXPECT_EQ(d.dynamic_shared_offset, 128U);
}

TEST(Declarations, VariablesHaveTheirInitialBytes) {
  const Declarations d =
      declared(".global .align 4 .u16 table[4] = {1, 0x203};\n.entry k()\n{\nret;\n}");
  ASSERT_EQ(d.variables.size(), 1U);
  EXPECT_THAT(d.variables[0].bytes, testing::ElementsAre(1, 0, 3, 2, 0, 0, 0, 0));
}

TEST(Declarations, TheClusterIsBehindTheParameters) {
  const auto cluster = [](const std::string& directives) {
    return declared(".entry k(.param .u64 p)\n" + directives + "\n{\nret;\n}").cluster;
  };
  using Extents = std::array<std::uint32_t, 3>;
  EXPECT_EQ(cluster(".maxntid 64, 1, 1"), std::nullopt);
  EXPECT_EQ(cluster(".explicitcluster\n.reqnctapercluster 2, 4, 1\n.maxntid 64"),
            (Extents{2, 4, 1}));
  EXPECT_EQ(cluster(".reqnctapercluster 8"), (Extents{8, 1, 1}));
  for (const char* wrong : {"0", "17", "2, x", "-1"}) {
    EXPECT_THROW((void)cluster(std::string(".reqnctapercluster ") + wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace fatune::emulate
