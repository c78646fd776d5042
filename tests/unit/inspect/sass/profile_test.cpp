#include "inspect/sass/profile.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inspect/sass/listing_text.hpp"
#include "unit/inspect/sass/listings.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SassProfile profile_of(const std::string& name, std::size_t function = 0) {
  const Listing listing = recorded_listing(name);
  return profile_function(listing, listing.functions.at(function));
}

SassProfile profile_of_lines(const std::string& lines) {
  return profile_function({"sm_80", {}}, function_of(lines));
}

TEST(Profile, TheFlashKernelsMainLoopDoesOneStepOfKeysAndValues) {
  const SassProfile profile = profile_of("flash.sm_80.txt");
  ASSERT_TRUE(profile.main_loop);
  EXPECT_EQ(profile.main_loop->first_address, 0x22d0U);
  EXPECT_EQ(profile.main_loop->last_address, 0x4230U);
  // 16 rows a warp, 64 keys, head dimension 128: both products in steps of 16 x 8 x 16.
  const std::int64_t products = 2 * (16 / 16) * (64 / 8) * (128 / 16);
  EXPECT_EQ(profile.of(OpcodeClass::tensor).main_loop, products);
  EXPECT_EQ(profile.of(OpcodeClass::tensor).conditional, 0);
  EXPECT_EQ(profile.main_loop->tensor_flop, products * 4096);
  EXPECT_EQ(profile.of(OpcodeClass::tensor).total, 2 * products);  // the first step is separate
  EXPECT_EQ(profile.of(OpcodeClass::local).total, 0);
  EXPECT_GT(profile.of(OpcodeClass::global).conditional, 0);  // loads the next block, if any
  EXPECT_EQ(profile.registers, 190);
}

TEST(Profile, ClassesAndOpcodesAddUp) {
  for (const char* name :
       {"flash.sm_80.txt", "small.sm_80.txt", "wgmma.sm_90a.txt", "flash_sm90.sm_90a.txt"}) {
    const SassProfile profile = profile_of(name);
    SassCount classes;
    for (const SassCount& count : profile.classes) {
      classes.total += count.total;
      classes.main_loop += count.main_loop;
    }
    std::int64_t opcodes = 0;
    for (const OpcodeCount& opcode : profile.opcodes) {
      opcodes += opcode.count.total;
    }
    EXPECT_EQ(classes.total, profile.all.total) << name;
    EXPECT_EQ(classes.main_loop, profile.all.main_loop) << name;
    EXPECT_EQ(opcodes, profile.all.total) << name;
  }
}

TEST(Profile, AWarpgroupsInstructionCountsAQuarterForEachWarp) {
  const SassProfile profile = profile_of("wgmma.sm_90a.txt");
  ASSERT_TRUE(profile.main_loop);
  EXPECT_EQ(profile.main_loop->tensor_flop, 2 * 64 * 8 * 16 / 4);
}

TEST(Profile, CallsInTheMainLoopAreCounted) {
  const SassProfile profile = profile_of("small.sm_80.txt", 2);
  EXPECT_EQ(profile.function, "nested");
  ASSERT_TRUE(profile.main_loop);
  EXPECT_EQ(profile.main_loop->calls, 1);
  EXPECT_EQ(profile.main_loop->depth, 1);  // the outer loop has more of its own instructions
  EXPECT_EQ(profile.main_loop->inner_loops, 1);
}

TEST(Profile, TheHopperKernelsConsumerAndProducerAreCountedApart) {
  const SassProfile profile = profile_of("flash_sm90.sm_90a.txt");
  ASSERT_TRUE(profile.main_loop);
  EXPECT_EQ(profile.main_loop->first_address, 0x1720U);
  EXPECT_EQ(profile.main_loop->depth, 2);  // a persistent kernel: steps within tiles
  // 64 rows, 32 keys, head dimension 64: both products in steps of 16, by four warps.
  EXPECT_EQ(profile.of(OpcodeClass::tensor).main_loop, 64 / 16 + 32 / 16);
  EXPECT_EQ(profile.main_loop->tensor_flop, 2 * (2 * 64 * 32 * 64) / 4);
  ASSERT_TRUE(profile.producer_loop);
  EXPECT_EQ(profile.producer_loop->first_address, 0x3a20U);
  EXPECT_EQ(profile.producer_loop->last_address, 0x4240U);
  EXPECT_EQ(profile.producer_loop->depth, 2);
  EXPECT_EQ(profile.producer_loop->bulk_loads, 2);  // K and V of a step
  EXPECT_EQ(profile.all.producer_loop, 71);
  EXPECT_EQ(profile.of(OpcodeClass::tensor).producer_loop, 0);
  EXPECT_EQ(profile.of(OpcodeClass::global).producer_loop, 2);
  EXPECT_THAT(unknown_opcodes(profile), testing::IsEmpty());
}

/// Each copy is in a loop over the values of a register that must be uniform.
TEST(Profile, ALoopForUniformityIsNoProducersLoop) {
  const SassProfile profile = profile_of_lines(
      "A:\nHGMMA.64x128x16.F32 R24, gdesc[UR4]\n@P0 BRA `(.LA)\n"
      "B:\nUTMALDG.5D [UR16], [UR8]\nC:\nUTMALDG.5D [UR16], [UR8]\n@P0 BRA.U.ANY `(.LC)\n"
      "D:\nUBLKCP.S.G [UR16], [UR8]\n@P0 BRA.U.ANY `(.LD)\n@P1 BRA `(.LB)\nEXIT");
  ASSERT_TRUE(profile.producer_loop);
  EXPECT_EQ(profile.producer_loop->bulk_loads, 3);
  EXPECT_EQ(profile.all.producer_loop, 6);
  EXPECT_EQ(profile.producer_loop->depth, 1);
}

TEST(Profile, OfLoopsThatLoadTheInnermostWithTheMostIsTheProducers) {
  const SassProfile profile = profile_of_lines(
      "A:\nHGMMA.64x128x16.F32 R24, gdesc[UR4]\n@P0 BRA `(.LA)\n"
      "B:\nUTMALDG.5D [UR1], [UR8]\nUTMALDG.5D [UR2], [UR8]\nUTMALDG.5D [UR3], [UR8]\n"
      "C:\nUTMALDG.5D [UR4], [UR8]\n@P0 BRA `(.LC)\n"
      "D:\nUTMALDG.5D [UR5], [UR8]\nUTMALDG.5D [UR6], [UR8]\n@P0 BRA `(.LD)\n"
      "@P1 BRA `(.LB)\nEXIT");
  ASSERT_TRUE(profile.producer_loop);
  EXPECT_EQ(profile.producer_loop->bulk_loads, 2);
  EXPECT_EQ(profile.producer_loop->depth, 2);
}

TEST(Profile, AMainLoopThatLoadsForItselfHasNoProducer) {
  const SassProfile profile = profile_of_lines(
      "B:\nUTMALDG.5D [UR16], [UR8]\nA:\nUTMALDG.5D [UR16], [UR8]\n"
      "HGMMA.64x128x16.F32 R24, gdesc[UR4]\n@P0 BRA `(.LA)\n@P1 BRA `(.LB)\nEXIT");
  EXPECT_TRUE(profile.main_loop);
  EXPECT_FALSE(profile.producer_loop);
  EXPECT_EQ(profile.all.producer_loop, 0);
  EXPECT_FALSE(profile_of("flash.sm_80.txt").producer_loop);
}

/// In a persistent kernel, the first step of a tile is in the loop over tiles.
TEST(Profile, TheInnermostOfEqualLoopsIsTheMainOne) {
  const SassProfile profile = profile_of_lines(
      "A:\nHGMMA.64x128x16.F32 R24, gdesc[UR4]\nMOV R1, R2\nMOV R3, R4\nB:\n"
      "HGMMA.64x128x16.F32 R24, gdesc[UR4]\n@P0 BRA `(.LB)\n@P1 BRA `(.LA)\nEXIT");
  ASSERT_TRUE(profile.main_loop);
  EXPECT_EQ(profile.main_loop->depth, 2);
  EXPECT_EQ(profile.all.main_loop, 2);
}

TEST(Profile, WithoutALoopThereIsNoMainLoop) {
  const SassProfile profile = profile_of_lines("NOP\nEXIT");
  EXPECT_FALSE(profile.main_loop);
  EXPECT_EQ(profile.all.total, 2);
  EXPECT_EQ(profile.all.main_loop, 0);
}

TEST(Profile, UnknownOpcodesAreNamedOnce) {
  const SassProfile profile = profile_of_lines("ZAP.U R1\nZAP.V R1\nBOOM\nEXIT");
  EXPECT_EQ(profile.of(OpcodeClass::unknown).total, 3);
  EXPECT_THAT(unknown_opcodes(profile), ElementsAre("BOOM", "ZAP"));
}

TEST(Profile, AnUnknownShapeMakesTheWorkUnknown) {
  const SassProfile profile =
      profile_of_lines("A:\nUTCHMMA gdesc[UR4]\nHMMA.16816.F32 R1, R2, R3\n@P0 BRA `(.LA)\nEXIT");
  ASSERT_TRUE(profile.main_loop);
  EXPECT_EQ(profile.main_loop->tensor_flop, std::nullopt);
}

TEST(ProfileDiff, TheGreatestChangeOfTheMainLoopComesFirst) {
  const SassProfile a =
      profile_of_lines("A:\nFADD R1, R2, R3\nMUFU.EX2 R1, R2\n@P0 BRA `(.LA)\nMOV R1, R2\nEXIT");
  const SassProfile b = profile_of_lines(
      "A:\nFADD R1, R2, R3\nFADD R1, R2, R3\nFFMA R1, R2, R3, R4\n@P0 BRA `(.LA)\nEXIT");
  const auto classes = class_changes(a, b);
  ASSERT_EQ(classes.size(), 4U);
  EXPECT_EQ(classes[0].what, "fp32");
  EXPECT_EQ(classes[0].main_loop.delta(), 2);
  EXPECT_EQ(classes[0].main_loop.relative_percent(), 200.0);
  EXPECT_EQ(classes[1].what, "mufu");
  EXPECT_EQ(classes[1].main_loop.delta(), -1);
  EXPECT_EQ(classes[2].what, "move");
  EXPECT_EQ(classes[2].total.delta(), -1);
  const auto opcodes = opcode_changes(a, b);
  EXPECT_EQ(opcodes[0].what, "FADD");
  EXPECT_EQ(opcodes[1].what, "FFMA");
  EXPECT_EQ(opcodes[1].main_loop.relative_percent(), std::nullopt);
}

TEST(ListingText, CleanTextHasNoAddressesAndOnlyLabelsInUse) {
  const std::string text = clean_text(recorded_listing("flash.sm_80.txt").functions.at(0));
  EXPECT_THAT(text, Not(HasSubstr("/*")));
  EXPECT_THAT(text, HasSubstr(".L_x_4:\n"));
  EXPECT_THAT(text, Not(HasSubstr(".L_x_15:")));
  EXPECT_THAT(text, HasSubstr("@!P0 BRA `(.L_x_0);\n"));
}

TEST(ListingText, TheGraphHasEveryBlockAndQuotesNames) {
  SassFunction function = function_of("A:\nNOP\n@P0 BRA `(.LA)\nEXIT");
  function.name = "odd\"name\\";
  EXPECT_EQ(graph_text(function),
            "digraph \"odd\\\"name\\\\\" {\n"
            "  node [shape=box, fontname=monospace];\n"
            "  b0 [label=\"0x0000-0x0010\\n2 instructions\\ncontrol 2\", style=filled, "
            "fillcolor=lightgrey];\n"
            "  b1 [label=\"0x0020-0x0020\\n1 instructions\\ncontrol 1\"];\n"
            "  b0 -> b0 [style=bold];\n"
            "  b0 -> b1;\n"
            "}\n");
}

/// One cubin, printed by three versions of nvdisasm.
TEST(Profile, IsTheSameWhicheverVersionPrintedTheListing) {
  const Listing first = recorded_listing("toy_attention.sm_80.nvdisasm_12.4.txt");
  const SassFunction& function = function_named(first, "toy_attention");
  const SassProfile expected = profile_function(first, function);
  EXPECT_EQ(expected.of(OpcodeClass::lanes).main_loop, 5);
  for (const char* version : {"13.2", "13.5"}) {
    const Listing listing =
        recorded_listing(fmt::format("toy_attention.sm_80.nvdisasm_{}.txt", version));
    const SassFunction& same = function_named(listing, "toy_attention");
    const SassProfile profile = profile_function(listing, same);
    ASSERT_EQ(profile.opcodes.size(), expected.opcodes.size()) << version;
    for (std::size_t i = 0; i < profile.opcodes.size(); ++i) {
      EXPECT_EQ(profile.opcodes[i].mnemonic, expected.opcodes[i].mnemonic) << version;
      EXPECT_EQ(profile.opcodes[i].count.main_loop, expected.opcodes[i].count.main_loop) << version;
      EXPECT_EQ(profile.opcodes[i].count.total, expected.opcodes[i].count.total) << version;
    }
    EXPECT_EQ(profile.main_loop->first_address, expected.main_loop->first_address) << version;
    ASSERT_EQ(same.instructions.size(), function.instructions.size());
    for (std::size_t i = 0; i < same.instructions.size(); ++i) {
      EXPECT_EQ(same.instructions[i].ptx_line, function.instructions[i].ptx_line);
      EXPECT_EQ(listing.places[same.instructions[i].place],
                first.places[function.instructions[i].place]);
    }
  }
}

constexpr const char* kToy = "toy_attention.cu";

const LineCount& at_line(const LineCounts& counts, std::int64_t line) {
  for (const LineCount& count : counts.lines) {
    if (count.at.line == line) {
      return count;
    }
  }
  throw std::out_of_range(std::to_string(line));
}

LineCounts toy_counts() {
  const Listing listing = recorded_listing("toy_attention.sm_80.nvdisasm_13.5.txt");
  return count_lines(listing, function_named(listing, "toy_attention"));
}

TEST(LineCounts, EveryInstructionHasOneLineOfItsOwn) {
  const Listing listing = recorded_listing("toy_attention.sm_80.nvdisasm_13.5.txt");
  const SassFunction& function = function_named(listing, "toy_attention");
  const LineCounts counts = count_lines(listing, function);
  std::int64_t own = counts.without_line.total;
  for (const LineCount& count : counts.lines) {
    own += count.own.total;
    EXPECT_EQ(count.at.file, kToy);
    EXPECT_LE(count.own.total, count.with_inlined.total);
    EXPECT_LE(count.own.main_loop, count.own.total);
  }
  EXPECT_EQ(own, counts.all.total);
  EXPECT_EQ(counts.all.total, static_cast<std::int64_t>(function.instructions.size()));
}

TEST(LineCounts, TheShufflesAreWrittenInWarpSumAndInlinedAtItsCall) {
  const LineCounts counts = toy_counts();
  const LineCount& shuffles = at_line(counts, 36);  // value += __shfl_xor_sync(...)
  EXPECT_EQ(shuffles.classes.at(static_cast<std::size_t>(OpcodeClass::lanes)).main_loop, 5);
  const LineCount& call = at_line(counts, 64);  // const float score = warp_sum(partial);
  EXPECT_EQ(call.own.main_loop, 0);
  EXPECT_EQ(call.with_inlined.main_loop, shuffles.own.main_loop);
}

TEST(LineCounts, TheHottestLineComesFirst) {
  const LineCounts counts = toy_counts();
  ASSERT_GT(counts.lines.size(), 5U);
  for (std::size_t i = 1; i < counts.lines.size(); ++i) {
    EXPECT_GE(counts.lines[i - 1].own.main_loop, counts.lines[i].own.main_loop);
  }
}

TEST(LineCounts, WithoutLineInformationNothingIsGuessed) {
  const Listing listing = recorded_listing("flash.sm_80.txt");
  const LineCounts counts = count_lines(listing, listing.functions[0]);
  EXPECT_TRUE(counts.lines.empty());
  EXPECT_EQ(counts.without_line.total, counts.all.total);
  EXPECT_EQ(counts.without_line.main_loop, 503);
}

}  // namespace
}  // namespace fatune
