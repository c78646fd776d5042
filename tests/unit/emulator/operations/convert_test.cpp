#include <limits>

#include <gtest/gtest.h>

#include "unit/emulator/operations/operation_case.hpp"

namespace fatune::emulate {
namespace {

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfiniteSingle = std::numeric_limits<float>::infinity();

TEST(Conversions, IntegersAreExtendedAndCut) {
  for (const OperationCase& operation : {
           OperationCase{"cvt.s64.s32 %w3, %r10", word(-5), 0, 0, wide(-5)},
           {"cvt.u64.u32 %w3, %r10", word(-5), 0, 0, 0xfffffffbU},
           {"cvt.u32.u64 %r3, %w10", wide(-5), 0, 0, word(-5)},
           {"cvt.s32.s8 %r3, %r10", 0x180, 0, 0, word(-128)},
           {"cvt.u32.u8 %r3, %r10", 0x180, 0, 0, 0x80},
           {"cvt.u32.u16 %r3, %h10", 0xffff, 0, 0, 0xffff},
           {"cvt.s32.s16 %r3, %h10", 0xffff, 0, 0, word(-1)},
           {"cvt.u16.u32 %h3, %r10", 0x12345, 0, 0, 0x2345},
       }) {
    expect_result(operation);
  }
}

// PTX ISA 9.0, section 9.4.1: a source register may be wider than the type.
TEST(Conversions, OfAWiderRegisterTheLowPartIsTaken) {
  for (const OperationCase& operation : {
           OperationCase{"cvt.s64.s32 %w3, %w10", 0x7fffffffbU, 0, 0, wide(-5)},
           {"cvt.u64.u32 %w3, %w10", 0x7fffffffbU, 0, 0, 0xfffffffbU},
           {"cvt.s64.s16 %w3, %w10", 0x18000, 0, 0, wide(-0x8000)},
           {"cvt.s32.s8 %r3, %w10", 0x180, 0, 0, word(-128)},
           {"cvt.u32.u16 %r3, %w10", 0x12345, 0, 0, 0x2345},
       }) {
    expect_result(operation);
  }
}

TEST(Conversions, FloatsToIntegersRoundAndSaturate) {
  for (const OperationCase& operation : {
           OperationCase{"cvt.rzi.s32.f32 %r3, %f10", bits(-1.9F), 0, 0, word(-1)},
           {"cvt.rni.s32.f32 %r3, %f10", bits(2.5F), 0, 0, 2},
           {"cvt.rni.s32.f32 %r3, %f10", bits(3.5F), 0, 0, 4},
           {"cvt.rmi.s32.f32 %r3, %f10", bits(-1.1F), 0, 0, word(-2)},
           {"cvt.rpi.s32.f32 %r3, %f10", bits(1.1F), 0, 0, 2},
           {"cvt.rzi.u32.f32 %r3, %f10", bits(-3.0F), 0, 0, 0},
           {"cvt.rzi.u32.f32 %r3, %f10", bits(4e9F), 0, 0, 4000000000U},
           {"cvt.rzi.u32.f32 %r3, %f10", bits(kInfiniteSingle), 0, 0, 0xffffffffU},
           {"cvt.rzi.s32.f32 %r3, %f10", bits(0x1p31F), 0, 0, 0x7fffffffU},
           {"cvt.rzi.s32.f32 %r3, %f10", bits(-kInfiniteSingle), 0, 0, 0x80000000U},
           {"cvt.rzi.s64.f32 %w3, %f10", bits(0x1p63F), 0, 0, 0x7fffffffffffffffU},
           {"cvt.rzi.u64.f32 %w3, %f10", bits(0x1p63F), 0, 0, 0x8000000000000000U},
           {"cvt.rpi.s32.f32 %r3, %f10", bits(0x1p-140F), 0, 0, 1},
           {"cvt.rpi.ftz.s32.f32 %r3, %f10", bits(0x1p-140F), 0, 0, 0},
       }) {
    expect_result(operation);
  }
}

// PTX ISA, cvt: NaN becomes zero. In a 64-bit result only the highest bit is set instead.
TEST(Conversions, NanToIntegers) {
  expect_result({"cvt.rzi.s32.f32 %r3, %f10", bits(kNotANumber), 0, 0, 0});
  expect_result({"cvt.rzi.u32.f32 %r3, %f10", bits(kNotANumber), 0, 0, 0});
  expect_result({"cvt.rzi.s64.f32 %w3, %f10", bits(kNotANumber), 0, 0, std::uint64_t{1} << 63U});
  expect_result({"cvt.rzi.u64.f32 %w3, %f10", bits(kNotANumber), 0, 0, std::uint64_t{1} << 63U});
}

TEST(Conversions, ToFloats) {
  for (const OperationCase& operation : {
           OperationCase{"cvt.rn.f32.s32 %f3, %r10", word(-3), 0, 0, bits(-3.0F)},
           {"cvt.rn.f32.u32 %f3, %r10", 0xffffffffU, 0, 0, bits(0x1p32F)},
           {"cvt.rn.f32.s32 %f3, %r10", 16777217, 0, 0, bits(16777216.0F)},
           {"cvt.rn.f32.u64 %f3, %w10", wide(-1), 0, 0, bits(0x1p64F)},
           {"cvt.rn.f64.s32 %d3, %r10", word(-3), 0, 0, bits(-3.0)},
           {"cvt.f64.f32 %d3, %f10", bits(0.1F), 0, 0, bits(static_cast<double>(0.1F))},
           {"cvt.rn.f32.f64 %f3, %d10", bits(0.1), 0, 0, bits(0.1F)},
           {"cvt.rni.f32.f32 %f3, %f10", bits(-0.5F), 0, 0, bits(-0.0F)},
           {"cvt.rmi.f32.f32 %f3, %f10", bits(-0.5F), 0, 0, bits(-1.0F)},
           {"cvt.rpi.f32.f32 %f3, %f10", bits(0.5F), 0, 0, bits(1.0F)},
           {"cvt.rzi.f32.f32 %f3, %f10", bits(-1.5F), 0, 0, bits(-1.0F)},
           {"cvt.rpi.ftz.f32.f32 %f3, %f10", bits(0x1p-140F), 0, 0, bits(0.0F)},
           {"cvt.ftz.f64.f32 %d3, %f10", bits(-0x1p-140F), 0, 0, bits(-0.0)},
           {"cvt.rn.ftz.f32.f64 %f3, %d10", bits(0x1p-140), 0, 0, bits(0.0F)},
       }) {
    expect_result(operation);
  }
}

TEST(Conversions, HalvesAndPairs) {
  for (const OperationCase& operation : {
           OperationCase{"cvt.rn.f16.f32 %h3, %f10", bits(65520.0F), 0, 0, 0x7c00},
           {"cvt.rn.f16.f32 %h3, %f10", bits(65519.0F), 0, 0, 0x7bff},
           {"cvt.rn.f16.f32 %h3, %f10", bits(kNotANumber), 0, 0, 0x7fff},
           {"cvt.rn.bf16.f32 %h3, %f10", bits(1.0F), 0, 0, 0x3f80},
           {"cvt.rn.bf16.f32 %h3, %f10", bits(0x1.01p0F), 0, 0, 0x3f80},
           {"cvt.rn.bf16.f32 %h3, %f10", bits(0x1.03p0F), 0, 0, 0x3f82},
           {"cvt.f32.f16 %f3, %h10", 0xc000, 0, 0, bits(-2.0F)},
           {"cvt.f32.f16 %f3, %h10", 0x0001, 0, 0, bits(0x1p-24F)},
           {"cvt.f32.bf16 %f3, %h10", 0x4040, 0, 0, bits(3.0F)},
           // The first source goes to the upper half.
           {"cvt.rn.f16x2.f32 %r3, %f10, %f11", bits(1.0F), bits(-2.0F), 0, 0x3c00c000U},
           {"cvt.rn.bf16x2.f32 %r3, %f10, %f11", bits(1.0F), bits(-2.0F), 0, 0x3f80c000U},
       }) {
    expect_result(operation);
  }
}

TEST(Moves, OfVectorsAndParts) {
  for (const OperationCase& operation : {
           OperationCase{"mov.b32 %r3, {%h10, %h11}", 0x1111, 0x2222, 0, 0x22221111U},
           {"mov.b64 %w3, {%r10, %r11}", 1, 2, 0, 0x200000001U},
           {"mov.b64 %w3, {%h10, %h11, %h12, %h10}", 1, 2, 3, 0x0001000300020001U},
           {"mov.b32 {_, %h3}, %r10; mov.b16 %h3, %h3", 0x22221111U, 0, 0, 0x2222},
           {"mov.b64 {%r4, %r5}, %w10; add.u32 %r3, %r4, %r5", 0x300000004U, 0, 0, 7},
           {"mov.b32 %r3, 0f3F800000", 0, 0, 0, 0x3f800000U},
           {"mov.f32 %f3, 0f3F800000", 0, 0, 0, bits(1.0F)},
           {"mov.f64 %d3, 0d3FF0000000000000", 0, 0, 0, bits(1.0)},
           {"mov.u64 %w3, -1", 0, 0, 0, wide(-1)},
           {"mov.pred %p3, -1", 0, 0, 0, 1},
           {"mov.pred %p3, 0", 0, 0, 0, 0},
       }) {
    expect_result(operation);
  }
}

/// A narrow load extends the sign beyond the register's 16 bits. The bits beyond are not packed.
TEST(Moves, PackOnlyTheBitsOfAPart) {
  expect_result({"ld.global.s16 %h4, [%w0]; mov.b32 %r3, {%h4, %h11}", 0xffff, 1, 0, 0x1ffffU});
  expect_result({"ld.global.s8 %h4, [%w0]; mov.b32 %r3, {%h4, %h11}", 0x80, 1, 0, 0x1ff80U});
}

TEST(Comparisons, OfIntegers) {
  for (const OperationCase& operation : {
           OperationCase{"setp.lt.s32 %p3, %r10, %r11", word(-1), 1, 0, 1},
           {"setp.lt.u32 %p3, %r10, %r11", word(-1), 1, 0, 0},
           {"setp.lo.u32 %p3, %r10, %r11", 1, word(-1), 0, 1},
           {"setp.hs.u32 %p3, %r10, %r11", 1, 1, 0, 1},
           {"setp.hi.u64 %p3, %w10, %w11", wide(-1), 1, 0, 1},
           {"setp.ls.u32 %p3, %r10, %r11", 2, 1, 0, 0},
           {"setp.ge.s64 %p3, %w10, %w11", wide(-1), 1, 0, 0},
           {"setp.eq.b32 %p3, %r10, 7", 7, 0, 0, 1},
           {"setp.ne.b16 %p3, %h10, %h11", 7, 7, 0, 0},
           {"setp.gt.s16 %p3, %h10, -1", 0, 0, 0, 1},
           {"setp.eq.f64 %p3, %d10, %d11", bits(0.0), bits(-0.0), 0, 1},
       }) {
    expect_result(operation);
  }
}

TEST(Selections, ByPredicates) {
  const std::string greater = "setp.gt.u32 %p1, %r10, %r11; ";
  expect_result({greater + "selp.b32 %r3, %r10, %r11, %p1", 3, 5, 0, 5});
  expect_result({greater + "selp.b64 %w3, %w10, %w11, %p1", 7, 5, 0, 7});
  expect_result({greater + "selp.f32 %f3, 0f3F800000, 0f00000000, %p1", 7, 5, 0, bits(1.0F)});
  expect_result({greater + "not.pred %p3, %p1", 7, 5, 0, 0});
  expect_result({greater + "setp.eq.u32 %p2, %r10, 7; and.pred %p3, %p1, %p2", 7, 5, 0, 1});
  expect_result({greater + "setp.eq.u32 %p2, %r10, 7; xor.pred %p3, %p1, %p2", 7, 5, 0, 0});
  expect_result({greater + "setp.eq.u32 %p2, %r10, 9; or.pred %p3, %p1, %p2", 7, 5, 0, 1});
}

}  // namespace
}  // namespace fatune::emulate
