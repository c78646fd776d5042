#include "emulator/ptx/parse_ptx.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string recorded_ptx() {
  std::ifstream file(FATUNE_SOURCE_DIR "/tests/listings/toy_attention.sm_80.ptx", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const PtxStatement& at_line(const PtxFunction& function, std::int64_t line) {
  for (const PtxStatement& statement : function.statements) {
    if (statement.line == line) {
      return statement;
    }
  }
  throw std::out_of_range(std::to_string(line));
}

std::vector<std::string> names(const PtxFunction& function, const std::vector<std::size_t>& list) {
  std::vector<std::string> texts;
  for (const std::size_t index : list) {
    texts.push_back(function.registers.at(index));
  }
  return texts;
}

PtxFunction only_function(const std::string& body) {
  return parse_ptx(".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n" + body + "}\n", "test")
      .functions.at(0);
}

std::string message_of(const std::string& text) {
  try {
    (void)parse_ptx(text, "k.ptx");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    return error.what();
  }
  return "no error";
}

TEST(ParsePtx, WhatNvrtcWrites) {
  const PtxModule module = parse_ptx(recorded_ptx(), "toy");
  ASSERT_EQ(module.functions.size(), 1U);
  const PtxFunction& kernel = module.functions[0];
  EXPECT_EQ(kernel.name, "toy_attention");
  const PtxStatement& shuffle = at_line(kernel, 185);
  EXPECT_EQ(shuffle.opcode, "shfl.sync.bfly.b32");
  EXPECT_THAT(names(kernel, shuffle.writes), ElementsAre("%r43", "%p6"));
  EXPECT_THAT(names(kernel, shuffle.reads), ElementsAre("%r39", "%r41", "%r40", "%r42"));
  EXPECT_THAT(module.places.at(shuffle.place),
              ElementsAre(SourceLine{"toy_attention.cu", 36}, SourceLine{"toy_attention.cu", 64},
                          SourceLine{"toy_attention.cu", 87}));
}

TEST(ParsePtx, GuardsAndSpecialRegisters) {
  const PtxFunction function = only_function(
      ".reg .pred %p<3>; .reg .b32 %r<4>;\n"
      "mov.u32 %r1, %tid.x;\n"
      "@!%p1 st.shared::cta.u32 [%r1+4],\n  %r2;\n"
      "$L__BB0_1: @%p2 bra $L__BB0_1;\n");
  ASSERT_EQ(function.statements.size(), 3U);
  EXPECT_THAT(names(function, function.statements[0].writes), ElementsAre("%r1"));
  EXPECT_TRUE(function.statements[0].reads.empty());
  EXPECT_EQ(function.statements[1].text, "@!%p1 st.shared::cta.u32 [%r1+4], %r2");
  EXPECT_EQ(function.statements[1].line, 7);
  EXPECT_THAT(names(function, function.statements[1].reads), ElementsAre("%p1", "%r1", "%r2"));
  EXPECT_EQ(function.statements[2].opcode, "bra");
}

TEST(ParsePtx, ScopesOfInlineAssemblyHideNames) {
  const PtxFunction function = only_function(
      ".reg .b32 %r<4>;\n"
      "{\n.reg .pred p;\nsetp.ne.b32 p, %r1, 0;\n}\n"
      "{ .reg .pred p, q; setp.ne.b32 p|q, %r2, 0; }\n");
  ASSERT_EQ(function.statements.size(), 2U);
  EXPECT_THAT(names(function, function.statements[1].writes), ElementsAre("p", "q"));
  EXPECT_NE(function.statements[0].writes[0], function.statements[1].writes[0]);
}

TEST(ParsePtx, CommentsTablesAndDebugSectionsAreNoCode) {
  const PtxModule module = parse_ptx(
      "// } ;\n/* .entry\n{ */ .global .align 4 .b8 table[2] = {1, 2};\n"
      ".func (.param .b32 r) declared (.param .b32 a);\n"
      ".func (.param .b32 r) called(.param .b32 a) { ret; // }\n}\n"
      ".section .debug_str { \n$L__info: .b8 1; \n}\n",
      "test");
  ASSERT_EQ(module.functions.size(), 1U);
  EXPECT_EQ(module.functions[0].name, "called");
  EXPECT_EQ(module.functions[0].statements.size(), 1U);
}

TEST(ParsePtx, WhatIsNoPtxIsRefusedWithItsLine) {
  EXPECT_THAT(message_of(""), HasSubstr("no function"));
  EXPECT_THAT(message_of(std::string("\0\1", 2)), HasSubstr("k.ptx, line 1"));
  EXPECT_THAT(message_of(".entry k()\n{\nret"), HasSubstr("cut off"));
  EXPECT_THAT(message_of(".entry k()\n{\nret;\n}\n}\n"), HasSubstr("k.ptx, line 5"));
  EXPECT_THAT(message_of("{ ret; }"), HasSubstr("wrong place"));
  EXPECT_THAT(message_of(".entry k() {" + std::string(2000, '{')), HasSubstr("too deep"));
  const std::string whole = recorded_ptx();
  EXPECT_THAT(message_of(whole.substr(0, whole.size() / 2)), HasSubstr("cut off"));
}

TEST(ParsePtx, LocalMemoryIsNoSourceLine) {
  const PtxModule module =
      parse_ptx(".entry k() {\n.local .align 8 .b8 depot[16];\nret;\n}", "test");
  EXPECT_THAT(module.functions.at(0).declarations,
              testing::ElementsAre(".local .align 8 .b8 depot[16]"));
}

TEST(ParsePtx, ScopesOfInlineAssemblyHaveTheirOwnLabels) {
  const std::string wait = "{\n@p bra DONE;\nWAIT: bra WAIT;\nbra OUT;\nDONE:\n}\n";
  const PtxFunction function = only_function(".reg .pred p;\n" + wait + wait + "OUT: ret;\n");
  const std::vector<PtxStatement>& all = function.statements;
  ASSERT_EQ(all.size(), 7U);
  for (const std::size_t first : {0U, 3U}) {
    EXPECT_EQ(all[first].operands.at(0), all[first + 3].labels.at(0));
    EXPECT_EQ(all[first + 1].operands, all[first + 1].labels);
    EXPECT_THAT(all[first + 2].names, ElementsAre("OUT"));
  }
  EXPECT_NE(all[1].labels, all[4].labels);
  EXPECT_NE(all[0].operands, all[3].operands);
}

TEST(ParsePtx, ListsOfAnInnerScopeNameItsLabels) {
  const PtxFunction function = only_function(
      ".reg .b32 %r<2>;\n{\nLIST: .branchtargets A, B;\nbrx.idx %r1, LIST;\nA: ret;\n}\nB: ret;\n");
  const std::string& inner = function.statements.at(1).labels.at(0);
  EXPECT_NE(inner, "A");
  EXPECT_THAT(function.statements[0].operands, ElementsAre("%r1", "LIST"));
  EXPECT_THAT(function.branch_targets.at("LIST"), ElementsAre(inner, "B"));
}

TEST(ParsePtx, LabelsBehindTheLastStatementAreTheFunctions) {
  const PtxModule module = parse_ptx(
      ".visible .entry a()\n{\nbra END;\n{\nINNER:\n}\nEND:\n}\n.visible .entry b()\n{\nret;\n}\n",
      "test");
  EXPECT_THAT(module.functions.at(0).end_labels, ElementsAre("INNER$scope1", "END"));
  EXPECT_THAT(module.functions.at(1).end_labels, testing::IsEmpty());
  EXPECT_THAT(module.functions.at(1).statements.at(0).labels, testing::IsEmpty());
}

}  // namespace
}  // namespace fatune
