#include "inspect/sass/line_map.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "unit/inspect/sass/listings.hpp"

namespace fatune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kToyFile = "toy_attention.cu";

/// The recorded kernel in all three languages, from one compilation.
struct Toy {
  Listing listing = recorded_listing("toy_attention.sm_80.nvdisasm_13.5.txt");
  PtxModule ptx = parse_ptx(listing_text("toy_attention.sm_80.ptx"), "toy");

  [[nodiscard]] LineMap map(const MapTarget& target, int depth = 0) const {
    return map_line({listing, function_named(listing, "toy_attention"), ptx, ptx.functions.at(0)},
                    target, depth);
  }
  [[nodiscard]] std::vector<std::string> mnemonics(const LineMap& map) const {
    std::vector<std::string> list;
    for (const std::size_t i : map.sass) {
      list.push_back(function_named(listing, "toy_attention").instructions[i].mnemonic);
    }
    return list;
  }
  [[nodiscard]] std::vector<std::string> opcodes(const LineMap& map, int depth) const {
    std::vector<std::string> list;
    for (const SliceStep& step : map.ptx) {
      if (step.depth == depth) {
        list.push_back(ptx.functions[0].statements[step.statement].opcode);
      }
    }
    return list;
  }
  [[nodiscard]] std::string error_of(const MapTarget& target) const {
    try {
      (void)map(target);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no error";
  }
};

TEST(LineMap, ASourceLineBecomesPtxAndSass) {
  const Toy toy;
  const LineMap map =
      toy.map(SourceLine{"toy_attention.cu", 66});  // exp2f(greatest - new_greatest)
  EXPECT_THAT(map.source, ElementsAre(SourceLine{kToyFile, 66}));
  EXPECT_THAT(toy.opcodes(map, 0), ElementsAre("sub.f32", "ex2.approx.f32"));
  EXPECT_THAT(toy.opcodes(map, 1), Contains("max.f32"));
  EXPECT_THAT(toy.mnemonics(map), Contains("MUFU.EX2"));
}

TEST(LineMap, APtxLineHasItsSourceAndItsInstruction) {
  const Toy toy;
  const LineMap source = toy.map(SourceLine{kToyFile, 66});
  const PtxStatement* exponential = nullptr;
  for (const PtxStatement& statement : toy.ptx.functions[0].statements) {
    exponential =
        statement.opcode == "ex2.approx.f32" && exponential == nullptr ? &statement : exponential;
  }
  ASSERT_NE(exponential, nullptr);
  const LineMap map = toy.map(PtxLine{exponential->line}, 1);
  EXPECT_THAT(map.source, ElementsAre(SourceLine{kToyFile, 66}, SourceLine{kToyFile, 87}));
  EXPECT_THAT(toy.opcodes(map, 0), ElementsAre("ex2.approx.f32"));
  EXPECT_THAT(toy.opcodes(map, 1), ElementsAre("sub.f32"));
  EXPECT_THAT(toy.mnemonics(map), Contains("MUFU.EX2"));
}

TEST(LineMap, AnInstructionLeadsBackToBoth) {
  const Toy toy;
  const LineMap source = toy.map(SourceLine{kToyFile, 66});
  const SassFunction& function = function_named(toy.listing, "toy_attention");
  for (const std::size_t i : source.sass) {
    const LineMap map = toy.map(SassAddress{function.instructions[i].address});
    EXPECT_THAT(map.source, Contains(SourceLine{kToyFile, 66}));
    EXPECT_THAT(map.sass, ElementsAre(i));
    EXPECT_EQ(toy.opcodes(map, 0).size(), 1U);
  }
}

TEST(LineMap, WhatHasNoCodeIsRefusedWithWhatHas) {
  const Toy toy;
  EXPECT_THAT(toy.error_of(SourceLine{"softmax.cuh", 1}), HasSubstr(kToyFile));
  EXPECT_THAT(toy.error_of(SourceLine{"attention.cu", 66}), HasSubstr("no code comes from a file"));
  EXPECT_THAT(toy.error_of(SourceLine{kToyFile, 68}), HasSubstr("67, 69"));
  EXPECT_THAT(toy.error_of(PtxLine{1}), HasSubstr("--ptx-text"));
  EXPECT_THAT(toy.error_of(SassAddress{0x11}), HasSubstr("0x0000 to"));
}

TEST(LineMap, AFileThatMayBeSeveralIsAsked) {
  Toy toy;
  toy.ptx.places.push_back({{"other/toy_attention.cu", 1}, {"other/b.cu", 1}, {"c/b.cu", 1}});
  EXPECT_THAT(toy.error_of(SourceLine{"b.cu", 66}), HasSubstr("c/b.cu, other/b.cu"));
  EXPECT_FALSE(toy.map(SourceLine{"toy_attention.cu", 66}).sass.empty());  // its name is exact
}

}  // namespace
}  // namespace fatune
