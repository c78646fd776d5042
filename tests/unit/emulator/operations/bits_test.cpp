#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/emulator/operations/operation_case.hpp"

namespace fatune::emulate {
namespace {

TEST(BitOperations, Logic) {
  for (const OperationCase& operation : {
           OperationCase{"and.b32 %r3, %r10, %r11", 0xff00ff00U, 0x0ff00ff0U, 0, 0x0f000f00U},
           {"or.b32 %r3, %r10, %r11", 0xff00ff00U, 0x0ff00ff0U, 0, 0xfff0fff0U},
           {"xor.b64 %w3, %w10, -1", 0x1234, 0, 0, ~std::uint64_t{0x1234}},
           {"not.b32 %r3, %r10", 0, 0, 0, 0xffffffffU},
           {"not.b16 %h3, %h10", 0x00ff, 0, 0, 0xff00},
           {"not.b64 %w3, %w10", 0, 0, 0, ~std::uint64_t{0}},
           {"and.b16 %h3, %h10, %h11", 0xf0f0, 0xff00, 0, 0xf000},
       }) {
    expect_result(operation);
  }
}

TEST(BitOperations, ShiftsByTheWidthOrMoreLeaveNothingButTheSign) {
  for (const OperationCase& operation : {
           OperationCase{"shl.b32 %r3, %r10, %r11", 1, 31, 0, 0x80000000U},
           {"shl.b32 %r3, %r10, %r11", 1, 32, 0, 0},
           {"shl.b32 %r3, %r10, %r11", 1, 0xffffffffU, 0, 0},
           {"shl.b64 %w3, %w10, %r11", 1, 63, 0, std::uint64_t{1} << 63U},
           {"shl.b64 %w3, %w10, %r11", 1, 64, 0, 0},
           {"shl.b16 %h3, %h10, %r11", 0xffff, 8, 0, 0xff00},
           {"shl.b16 %h3, %h10, %r11", 0xffff, 16, 0, 0},
           {"shr.u32 %r3, %r10, %r11", 0x80000000U, 31, 0, 1},
           {"shr.u32 %r3, %r10, %r11", 0x80000000U, 32, 0, 0},
           {"shr.b32 %r3, %r10, %r11", 0x80000000U, 4, 0, 0x08000000U},
           {"shr.s32 %r3, %r10, %r11", 0x80000000U, 4, 0, 0xf8000000U},
           {"shr.s32 %r3, %r10, %r11", 0x80000000U, 32, 0, 0xffffffffU},
           {"shr.s32 %r3, %r10, %r11", 0x7fffffffU, 200, 0, 0},
           {"shr.s64 %w3, %w10, %r11", wide(-16), 2, 0, wide(-4)},
           {"shr.s64 %w3, %w10, %r11", wide(-16), 64, 0, wide(-1)},
           {"shr.s16 %h3, %h10, %r11", 0x8000, 15, 0, 0xffff},
           {"shr.u16 %h3, %h10, %r11", 0x8000, 15, 0, 1},
       }) {
    expect_result(operation);
  }
}

TEST(BitOperations, FunnelShiftsWrapTheirCount) {
  for (const OperationCase& operation : {
           OperationCase{"shf.l.wrap.b32 %r3, %r10, %r11, %r12", 0x80000000U, 1, 1, 3},
           {"shf.l.wrap.b32 %r3, %r10, %r11, %r12", 0x1234, 0x5678, 32, 0x5678},
           {"shf.r.wrap.b32 %r3, %r10, %r11, %r12", 0x2, 1, 1, 0x80000001U},
           {"shf.r.wrap.b32 %r3, %r10, %r11, %r12", 0x1234, 0x5678, 32, 0x1234},
       }) {
    expect_result(operation);
  }
}

TEST(BitOperations, FieldsAreInsertedWithinTheirLimits) {
  for (const OperationCase& operation : {
           OperationCase{"bfi.b32 %r3, %r10, %r11, 8, 8", 0x1ff, 0, 0, 0xff00},
           {"bfi.b32 %r3, %r10, %r11, 0, 32", 0x12345678U, 0xffffffffU, 0, 0x12345678U},
           {"bfi.b32 %r3, %r10, %r11, 28, 8", 0xff, 0, 0, 0xf0000000U},
           {"bfi.b32 %r3, %r10, %r11, 0, 0", 0xff, 0x55, 0, 0x55},
           {"bfi.b32 %r3, %r10, %r11, 32, 4", 0xff, 0x55, 0, 0x55},
           {"bfi.b32 %r3, %r10, %r11, 256, 4", 0xf, 0x50, 0, 0x5f},
           {"bfi.b64 %w3, %w10, %w11, 60, 8", 0xff, 0, 0, 0xf000000000000000U},
       }) {
    expect_result(operation);
  }
}

TEST(BitOperations, FieldsAreExtractedWithinTheirLimits) {
  for (const OperationCase& operation : {
           OperationCase{"bfe.u32 %r3, %r10, 4, 8", 0x12345678U, 0, 0, 0x67},
           {"bfe.s32 %r3, %r10, 4, 4", 0x80, 0, 0, 0xfffffff8U},
           {"bfe.s32 %r3, %r10, 0, 0", 0xffffffffU, 0, 0, 0},
           {"bfe.u32 %r3, %r10, 28, 8", 0xf0000000U, 0, 0, 0xf},
           {"bfe.s32 %r3, %r10, 28, 8", 0x80000000U, 0, 0, 0xfffffff8U},
           {"bfe.s32 %r3, %r10, 40, 8", 0x80000000U, 0, 0, 0xffffffffU},
           {"bfe.u32 %r3, %r10, 40, 8", 0x80000000U, 0, 0, 0},
           {"bfe.u64 %w3, %w10, 60, 64", 0xa000000000000000U, 0, 0, 0xa},
           {"bfe.s64 %w3, %w10, 60, 4", 0xa000000000000000U, 0, 0, wide(-6)},
       }) {
    expect_result(operation);
  }
}

TEST(BitOperations, CountAndReverse) {
  for (const OperationCase& operation : {
           OperationCase{"popc.b32 %r3, %r10", 0xf0f0U, 0, 0, 8},
           {"popc.b64 %r3, %w10", ~std::uint64_t{0}, 0, 0, 64},
           {"clz.b32 %r3, %r10", 0, 0, 0, 32},
           {"clz.b32 %r3, %r10", 1, 0, 0, 31},
           {"clz.b64 %r3, %w10", 1, 0, 0, 63},
           {"brev.b32 %r3, %r10", 1, 0, 0, 0x80000000U},
           {"brev.b64 %w3, %w10", 2, 0, 0, std::uint64_t{1} << 62U},
       }) {
    expect_result(operation);
  }
}

TEST(BitOperations, PermutePicksBytesOrSpreadsTheirSign) {
  for (const OperationCase& operation : {
           OperationCase{"prmt.b32 %r3, %r10, %r11, 0x3210", 0x44332211U, 0x88776655U, 0,
                         0x44332211U},
           {"prmt.b32 %r3, %r10, %r11, 0x7654", 0x44332211U, 0x88776655U, 0, 0x88776655U},
           {"prmt.b32 %r3, %r10, %r11, 0x5410", 0x44332211U, 0x88776655U, 0, 0x66552211U},
           {"prmt.b32 %r3, %r10, %r11, 0x0123", 0x44332211U, 0x88776655U, 0, 0x11223344U},
           {"prmt.b32 %r3, %r10, %r11, 0xf8f8", 0x44332211U, 0x88776655U, 0, 0xff00ff00U},
       }) {
    expect_result(operation);
  }
}

TEST(BitOperations, EveryTruthTable) {
  constexpr std::uint32_t kA = 0xf0;
  constexpr std::uint32_t kB = 0xcc;
  constexpr std::uint32_t kC = 0xaa;
  for (std::uint32_t table = 0; table < 256; ++table) {
    // With these operands, bit i of the result is entry i of the table.
    const std::uint32_t above = (table & 1U) != 0 ? 0xffffff00U : 0U;
    expect_result(
        {fmt::format("lop3.b32 %r3, %r10, %r11, %r12, {}", table), kA, kB, kC, table | above});
  }
}

}  // namespace
}  // namespace fatune::emulate
