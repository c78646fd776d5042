#include "inspect/sass/loops.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "unit/inspect/sass/listings.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ControlFlow flow_of(const std::string& lines) { return control_flow(function_of(lines)); }

TEST(ControlFlow, ADiamondJoinsBehindItsTop) {
  const ControlFlow flow =
      flow_of("NOP\n@P0 BRA `(.LA)\nMOV R1, R2\nBRA `(.LB)\nA:\nNOP\nB:\nEXIT");
  ASSERT_EQ(flow.blocks.size(), 4U);
  EXPECT_THAT(flow.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_THAT(flow.blocks[1].successors, ElementsAre(3));
  EXPECT_THAT(flow.blocks[3].predecessors, ElementsAre(1, 2));
  EXPECT_THAT(flow.blocks[3].successors, IsEmpty());
  EXPECT_EQ(flow.dominators[3], 0U);
  EXPECT_TRUE(flow.dominates(0, 3));
  EXPECT_FALSE(flow.dominates(1, 3));
  EXPECT_TRUE(flow.dominates(3, 3));
}

TEST(ControlFlow, ConditionsMayBeOperands) {
  EXPECT_THAT(flow_of("BRA.U UP0, `(.LA)\nNOP\nA:\nEXIT").blocks[0].successors, ElementsAre(1, 2));
  EXPECT_THAT(flow_of("BRA.DIV ~URZ, `(.LA)\nNOP\nA:\nEXIT").blocks[0].successors,
              ElementsAre(1, 2));
  EXPECT_THAT(flow_of("@PT BRA `(.LA)\nNOP\nA:\nEXIT").blocks[0].successors, ElementsAre(2));
}

TEST(ControlFlow, ACallOfALabelIsAFarBranchACallOfAFunctionIsNot) {
  const ControlFlow far = flow_of("@!P0 CALL.REL.NOINC `(.LA)\nNOP\nEXIT\nA:\nEXIT");
  EXPECT_THAT(far.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_EQ(flow_of("CALL.REL.NOINC `(helper)\nNOP\nEXIT").blocks.size(), 1U);
}

TEST(ControlFlow, AGuardedExitGoesOn) {
  const ControlFlow flow = flow_of("@P0 EXIT\nNOP\nEXIT");
  ASSERT_EQ(flow.blocks.size(), 2U);
  EXPECT_THAT(flow.blocks[0].successors, ElementsAre(1));
}

TEST(ControlFlow, JumpTablesReachAllTheirTargets) {
  const Listing listing = recorded_listing("small.sm_80.txt");
  const SassFunction& chosen = function_named(listing, "chosen");
  const ControlFlow flow = control_flow(chosen);
  for (const BasicBlock& block : flow.blocks) {
    if (chosen.instructions[block.end - 1].opcode() == "BRX") {
      EXPECT_EQ(block.successors.size(), 3U);
    }
  }
  EXPECT_THAT(find_loops(flow).loops, IsEmpty());
}

TEST(ControlFlow, TheLastInstructionMayLeadNowhere) {
  EXPECT_THAT(flow_of("NOP\nNOP").blocks[0].successors, IsEmpty());
  EXPECT_THAT(flow_of("BRA `(.Lelsewhere)").blocks[0].successors, IsEmpty());
}

TEST(ControlFlow, BlocksThatNothingLeadsToAreEntries) {
  const ControlFlow flow = flow_of("EXIT\nA:\nNOP\n@P0 BRA `(.LA)\nEXIT");
  EXPECT_EQ(flow.dominators[1], std::nullopt);
  EXPECT_EQ(find_loops(flow).loops.size(), 1U);
}

TEST(Loops, NestedOnesKnowTheirDepth) {
  const Listing listing = recorded_listing("small.sm_80.txt");
  const SassFunction& nested = function_named(listing, "nested");
  const ControlFlow flow = control_flow(nested);
  const LoopForest forest = find_loops(flow);
  ASSERT_EQ(forest.loops.size(), 2U);
  EXPECT_EQ(forest.loops[0].depth, 1);
  EXPECT_EQ(forest.loops[1].depth, 2);
  EXPECT_EQ(forest.loops[1].parent, 0U);
  EXPECT_EQ(nested.instructions[flow.blocks[forest.loops[0].header].first].address, 0x80U);
  EXPECT_EQ(nested.instructions[flow.blocks[forest.loops[1].header].first].address, 0x140U);
}

TEST(Loops, TwoWaysBackToOneHeaderAreOneLoop) {
  const ControlFlow flow = flow_of("A:\nNOP\n@P0 BRA `(.LA)\nNOP\n@P1 BRA `(.LA)\nEXIT");
  const LoopForest forest = find_loops(flow);
  ASSERT_EQ(forest.loops.size(), 1U);
  EXPECT_THAT(forest.loops[0].latches, ElementsAre(0, 1));
  EXPECT_THAT(forest.loops[0].blocks, ElementsAre(0, 1));
  EXPECT_TRUE(always_executed(flow, forest.loops[0], 0));
  EXPECT_FALSE(always_executed(flow, forest.loops[0], 1));
}

TEST(Loops, ACycleOfTwoEntriesIsCountedAndIsNoLoop) {
  const ControlFlow flow = flow_of("@P0 BRA `(.LB)\nA:\nNOP\nB:\nNOP\n@P1 BRA `(.LA)\nEXIT");
  const LoopForest forest = find_loops(flow);
  EXPECT_THAT(forest.loops, IsEmpty());
  EXPECT_EQ(forest.irreducible_edges, 1U);
}

TEST(Loops, TheMainLoopHasTheMostTensorInstructionsOfItsOwn) {
  const std::string lines =
      "A:\nNOP\nNOP\nNOP\n@P0 BRA `(.LA)\n"  // long, without tensor instructions
      "B:\nHMMA.16816.F32 R4, R8, R10, R4\nC:\nFADD R1, R2, R3\n@P1 BRA `(.LC)\n"
      "HMMA.16816.F32 R4, R8, R10, R4\n@P2 BRA `(.LB)\nEXIT";
  const SassFunction function = function_of(lines);
  const ControlFlow flow = control_flow(function);
  const LoopForest forest = find_loops(flow);
  const auto main = main_loop(function, flow, forest);
  ASSERT_TRUE(main);
  EXPECT_EQ(function.instructions[flow.blocks[forest.loops[*main].header].first].opcode(), "HMMA");
}

TEST(Loops, AHostileTowerOfLoopsIsRefused) {
  std::string lines;
  for (int i = 0; i < 1500; ++i) {
    lines += "X" + std::to_string(i) + ":\nNOP\n@P0 BRA `(.LX" + std::to_string(i) + ")\n";
  }
  const ControlFlow flow = flow_of(lines);
  EXPECT_THROW((void)find_loops(flow), Error);
}

}  // namespace
}  // namespace fatune
