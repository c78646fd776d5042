#include "inspect/sass/listing.hpp"

#include <random>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "inspect/sass/profile.hpp"
#include "unit/inspect/sass/listings.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Instruction& at(const SassFunction& function, std::uint64_t address) {
  for (const Instruction& instruction : function.instructions) {
    if (instruction.address == address) {
      return instruction;
    }
  }
  throw std::out_of_range("no such address");
}

std::string parsing_failure(const std::string& text) {
  try {
    (void)parse_listing(text, "file.txt");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    return error.what();
  }
  return "none";
}

const std::string kSectionHead = "\t.section\t.text.f,\"ax\",@progbits\nf:\n";

TEST(ParseListing, FunctionsOfAllSectionsInOrder) {
  const Listing listing = recorded_listing("small.sm_80.txt");
  EXPECT_EQ(listing.target, "sm_80");
  std::vector<std::string> names;
  for (const SassFunction& function : listing.functions) {
    names.push_back(function.name);
  }
  EXPECT_THAT(names,
              ElementsAre("chosen", "$chosen$_Z6helperi", "nested", "$nested$_Z6helperi", "saxpy"));
  EXPECT_EQ(listing.functions[1].section, ".text.chosen");
  EXPECT_EQ(listing.functions[0].registers, 12);
}

TEST(ParseListing, LinesOfTheSourceWhereTheyWereInlinedAndOfThePtx) {
  const std::string gi =
      "\t//## File \"a.cuh\", line 28 inlined at \"b.cuh\", line 75\n"
      "\t//## File \"b.cuh\", line 75 inlined at \"c.cu\", line 87\n"
      "\t//## File \"c.cu\", line 87\n"
      "\t//## File \".nv_debug_ptx_txt\", line 50\n"
      "        /*0000*/  NOP ;\n"
      "\t//## File \".nv_debug_ptx_txt\", line 51\n"
      "        /*0010*/  NOP ;\n"
      "\t//## File \"c.cu\", line 88\n"
      "        /*0020*/  EXIT ;\n";
  const Listing listing = parse_listing(kSectionHead + gi, "test");
  const auto& code = listing.functions.at(0).instructions;
  ASSERT_EQ(code.size(), 3U);
  EXPECT_THAT(
      listing.places.at(code[0].place),
      ElementsAre(SourceLine{"a.cuh", 28}, SourceLine{"b.cuh", 75}, SourceLine{"c.cu", 87}));
  EXPECT_EQ(code[1].place, code[0].place);
  EXPECT_THAT(listing.places.at(code[2].place), ElementsAre(SourceLine{"c.cu", 88}));
  EXPECT_EQ(code[0].ptx_line, 50);
  EXPECT_EQ(code[1].ptx_line, 51);
  EXPECT_EQ(code[2].ptx_line, 51);
}

TEST(ParseListing, EveryPartOfAnInstruction) {
  const Listing listing = recorded_listing("small.sm_80.txt");
  const SassFunction& nested = function_named(listing, "nested");
  const Instruction& branch = at(nested, 0x120);
  EXPECT_EQ(branch.guard, "!P1");
  EXPECT_EQ(branch.mnemonic, "BRA");
  EXPECT_THAT(branch.targets, ElementsAre(".L_x_6"));
  EXPECT_THAT(listing.places.at(branch.place), ElementsAre(SourceLine{"small.cu", 18}));
  EXPECT_EQ(branch.ptx_line, 0);
  const Instruction& load = at(nested, 0xb0);
  EXPECT_EQ(load.opcode(), "LDG");
  EXPECT_THAT(load.operands, ElementsAre("R3", "[R2.64]"));
  EXPECT_THAT(at(nested, 0x140).labels, ElementsAre(".L_x_7"));
}

TEST(ParseListing, JumpTablesHaveTheirTargets) {
  const Listing listing = recorded_listing("small.sm_80.txt");
  const Instruction& jump = at(listing.functions[0], 0xf0);
  EXPECT_EQ(jump.mnemonic, "BRX");
  EXPECT_THAT(jump.operands, ElementsAre("R4 -0x100"));
  EXPECT_THAT(jump.targets, ElementsAre(".L_x_22", ".L_x_23", ".L_x_24"));
}

TEST(ParseListing, PaddingIsLeftOut) {
  const SassFunction saxpy = function_named(recorded_listing("small.sm_80.txt"), "saxpy");
  EXPECT_EQ(saxpy.instructions.back().mnemonic, "EXIT");
  EXPECT_EQ(saxpy.instructions.size(), 0x120U / 16 + 1);
}

TEST(ParseListing, EncodingsAreNoInstructions) {
  const Listing listing = recorded_listing("small.sm_120.txt");
  EXPECT_EQ(listing.target, "sm_120");
  EXPECT_EQ(function_named(listing, "saxpy").instructions.size(), 0x170U / 16 + 1);
}

TEST(ParseListing, OperandsWithCommasInBracketsStayWhole) {
  const SassFunction function = function_of("FOO R1, {R2, R3}, c[0x0][0x160], desc[UR4][R2.64]");
  EXPECT_THAT(function.instructions[0].operands,
              ElementsAre("R1", "{R2, R3}", "c[0x0][0x160]", "desc[UR4][R2.64]"));
}

TEST(ParseListing, ScheduleAnnotationsAreNoOperands) {
  const SassFunction function = function_of("IADD3 R1, R2, R3 &req={0,1} ?WAIT2_END_GROUP");
  EXPECT_THAT(function.instructions[0].operands, ElementsAre("R1", "R2", "R3"));
}

TEST(ParseListing, WindowsLineEndsAreRead) {
  std::string text = listing_text("wgmma.sm_90a.txt");
  for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 2)) {
    text.insert(i, 1, '\r');
  }
  EXPECT_EQ(parse_listing(text, "x").functions[0].instructions.size(),
            recorded_listing("wgmma.sm_90a.txt").functions[0].instructions.size());
}

TEST(ParseListing, WhatIsNoListingIsRefused) {
  EXPECT_THAT(parsing_failure(""), HasSubstr("no machine code"));
  EXPECT_THAT(parsing_failure("hello\nworld\n"), HasSubstr("no machine code"));
  EXPECT_THAT(parsing_failure(std::string("\x7f"
                                          "ELF\x02\0\0",
                                          7)),
              HasSubstr("file.txt, line 1"));
  EXPECT_THAT(parsing_failure(kSectionHead + "        /*0000*/      EXIT"), HasSubstr("cut off"));
  EXPECT_THAT(parsing_failure(kSectionHead + "        /*0000"), HasSubstr("cut off"));
  EXPECT_THAT(parsing_failure(kSectionHead + "   /*zz*/  EXIT ;\n"),
              HasSubstr("'zz' is not an address"));
  EXPECT_THAT(parsing_failure(kSectionHead + "   /*0010*/ EXIT ;\n   /*0010*/ EXIT ;\n"),
              HasSubstr("ascend"));
  EXPECT_THAT(parsing_failure(kSectionHead + "   /*0000*/ ;\n"), HasSubstr("not an instruction"));
  EXPECT_THAT(parsing_failure(kSectionHead + "   garbage\n"), HasSubstr("line 3"));
  EXPECT_THAT(parsing_failure(kSectionHead + ":\n"), HasSubstr("label without a name"));
}

/// However a listing is damaged, it is either read or refused.
TEST(ParseListing, DamagedListingsAreReadOrRefused) {
  const std::string whole = listing_text("small.sm_80.txt");
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text = whole;
    for (int n = 0; n < 1 + i % 8; ++n) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    text.resize(i % 2 == 0 ? text.size() : random() % text.size());
    try {
      const Listing listing = parse_listing(text, "damaged");
      for (const SassFunction& function : listing.functions) {
        (void)profile_function(listing, function);
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_file);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace fatune
