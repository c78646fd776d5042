#include "emulator/ptx/scopes.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

bool first_is_written(const char* opcode, const char* first) {
  const OperandEffect effect = operand_effects(opcode, {first, "%r2"}).front();
  EXPECT_TRUE(effect.writes != effect.reads) << opcode;
  return effect.writes;
}

TEST(OperandEffects, TheFirstOperandIsTheResult) {
  EXPECT_TRUE(first_is_written("add.s32", "%r1"));
  EXPECT_TRUE(first_is_written("ld.global.v2.u32", "{%r1, %r2}"));
  EXPECT_TRUE(first_is_written("shfl.sync.bfly.b32", "%r1|%p1"));
  EXPECT_TRUE(first_is_written("bar.red.popc.u32", "%r1"));
}

TEST(OperandEffects, UnlessItIsAnAddressOrTheOpcodeHasNone) {
  EXPECT_FALSE(first_is_written("st.global.u32", "[%rd1]"));
  EXPECT_FALSE(first_is_written("cp.async.cg.shared.global", "[%r1]"));
  EXPECT_FALSE(first_is_written("bar.sync", "%r1"));
  EXPECT_FALSE(first_is_written("barrier.cta.sync.aligned", "%r1"));
}

TEST(OperandEffects, AnAccumulatorIsBoth) {
  const OperandEffect effect =
      operand_effects("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", {"{%f1}", "%rd1"})[0];
  EXPECT_TRUE(effect.writes && effect.reads);
  EXPECT_TRUE(operand_effects("ret", {}).empty());
}

}  // namespace
}  // namespace fatune
