#include "inspect/sass/opcode_class.hpp"

#include <set>

#include <gtest/gtest.h>

#include "unit/inspect/sass/listings.hpp"

namespace fatune {
namespace {

OpcodeClass class_of_line(const std::string& line) {
  return class_of(function_of(line).instructions.at(0));
}

TEST(OpcodeClass, OneExampleOfEach) {
  EXPECT_EQ(class_of_line("HMMA.16816.F32 R4, R8, R10, R4"), OpcodeClass::tensor);
  EXPECT_EQ(class_of_line("HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0"), OpcodeClass::tensor);
  EXPECT_EQ(class_of_line("MUFU.EX2 R1, R2"), OpcodeClass::mufu);
  EXPECT_EQ(class_of_line("FFMA.FTZ R1, R2, R3, R4"), OpcodeClass::fp32);
  EXPECT_EQ(class_of_line("HMUL2 R1, R2, R3"), OpcodeClass::fp16);
  EXPECT_EQ(class_of_line("DFMA R2, R4, R6, R8"), OpcodeClass::fp64);
  EXPECT_EQ(class_of_line("IMAD.WIDE R2, R4, R5, c[0x0][0x160]"), OpcodeClass::integer);
  EXPECT_EQ(class_of_line("F2FP.PACK_AB R1, R2, R3"), OpcodeClass::conversion);
  EXPECT_EQ(class_of_line("LDSM.16.M88.4 R4, [R1]"), OpcodeClass::shared);
  EXPECT_EQ(class_of_line("LDGSTS.E.BYPASS.128 [R1], [R2.64]"), OpcodeClass::global);
  EXPECT_EQ(class_of_line("UTMALDG.4D [UR8], [UR4]"), OpcodeClass::global);
  EXPECT_EQ(class_of_line("STL [R1+0x4], R2"), OpcodeClass::local);
  EXPECT_EQ(class_of_line("LDC R1, c[0x0][0x28]"), OpcodeClass::constant);
  EXPECT_EQ(class_of_line("SHFL.BFLY PT, R5, R0, 0x1, 0x1f"), OpcodeClass::lanes);
  EXPECT_EQ(class_of_line("BAR.SYNC.DEFER_BLOCKING 0x0"), OpcodeClass::barrier);
  EXPECT_EQ(class_of_line("SYNCS.ARRIVE.TRANS64 RZ, [UR4], R0"), OpcodeClass::barrier);
  EXPECT_EQ(class_of_line("BSSY B0, `(.L_x_5)"), OpcodeClass::control);
  EXPECT_EQ(class_of_line("SEL R1, R2, R3, P0"), OpcodeClass::move);
  EXPECT_EQ(class_of_line("ULDC.64 UR6, c[0x0][0x118]"), OpcodeClass::uniform);
  EXPECT_EQ(class_of_line("IPA R1, a[0x70]"), OpcodeClass::other);
  EXPECT_EQ(class_of_line("FROBNICATE R1"), OpcodeClass::unknown);
}

TEST(OpcodeClass, MovesInDisguiseAreMoves) {
  EXPECT_EQ(class_of_line("IMAD.MOV.U32 R1, RZ, RZ, R2"), OpcodeClass::move);
  EXPECT_EQ(class_of_line("HFMA2.MMA R3, -RZ, RZ, 0, 2.384185791015625e-07"), OpcodeClass::move);
  EXPECT_EQ(class_of_line("HFMA2.MMA R3, R1, R2, R3"), OpcodeClass::fp16);
}

TEST(OpcodeClass, EveryRecordedOpcodeIsKnown) {
  for (const char* name : {"small.sm_80.txt", "small.sm_90a.txt", "small.sm_120.txt",
                           "wgmma.sm_90a.txt", "flash.sm_80.txt"}) {
    for (const SassFunction& function : recorded_listing(name).functions) {
      for (const Instruction& instruction : function.instructions) {
        EXPECT_NE(class_of(instruction), OpcodeClass::unknown) << instruction.mnemonic;
      }
    }
  }
}

TEST(OpcodeClass, NamesAreInOrderAndDifferent) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOpcodeClasses; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(opcode_classes()[i].which), i);
    names.insert(class_name(opcode_classes()[i].which));
  }
  EXPECT_EQ(names.size(), kOpcodeClasses);
}

TEST(TensorFlop, FollowsFromTheShapeInTheName) {
  EXPECT_EQ(tensor_flop("HMMA.16816.F32"), 2 * 16 * 8 * 16);
  EXPECT_EQ(tensor_flop("HMMA.1688.F32.TF32"), 2 * 16 * 8 * 8);
  EXPECT_EQ(tensor_flop("IMMA.16832.S8.S8"), 2 * 16 * 8 * 32);
  EXPECT_EQ(tensor_flop("DMMA.884"), 2 * 8 * 8 * 4);
  EXPECT_EQ(tensor_flop("HGMMA.64x128x16.F32"), 2 * 64 * 128 * 16 / 4);
  EXPECT_EQ(tensor_flop("HMMA"), std::nullopt);
  EXPECT_EQ(tensor_flop("UTCHMMA.2CTA"), std::nullopt);
  EXPECT_EQ(tensor_flop("HGMMA.64x128"), std::nullopt);
  EXPECT_EQ(tensor_flop("HGMMA.64x99999999999999999999x16"), std::nullopt);
  EXPECT_EQ(tensor_flop("FFMA.16816"), std::nullopt);
}

}  // namespace
}  // namespace fatune
