#include <gtest/gtest.h>

#include "unit/emulator/operations/operation_case.hpp"

namespace fatune::emulate {
namespace {

constexpr std::int32_t kLeast = INT32_MIN;
constexpr std::int64_t kLeastWide = INT64_MIN;

TEST(IntegerOperations, AddAndSubtractWrapAround) {
  for (const OperationCase& operation : {
           OperationCase{"add.s32 %r3, %r10, %r11", word(INT32_MAX), 1, 0, word(kLeast)},
           {"add.u32 %r3, %r10, -1", 0, 0, 0, 0xffffffffU},
           {"add.s64 %w3, %w10, %w11", wide(INT64_MAX), 1, 0, wide(kLeastWide)},
           {"add.u64 %w3, %w10, -8", 4, 0, 0, wide(-4)},
           {"add.s16 %h3, %h10, %h11", 0x7fff, 1, 0, 0x8000},
           {"add.u16 %h3, %h10, %h11", 0xffff, 2, 0, 1},
           {"sub.s32 %r3, %r10, %r11", word(kLeast), 1, 0, word(INT32_MAX)},
           {"sub.u64 %w3, %w10, %w11", 0, 1, 0, ~std::uint64_t{0}},
           {"sub.s16 %h3, %h10, %h11", 0x8000, 1, 0, 0x7fff},
           {"neg.s32 %r3, %r10", word(kLeast), 0, 0, word(kLeast)},
           {"neg.s64 %w3, %w10", 5, 0, 0, wide(-5)},
           {"neg.s16 %h3, %h10", 1, 0, 0, 0xffff},
           {"abs.s32 %r3, %r10", word(-7), 0, 0, 7},
           {"abs.s32 %r3, %r10", word(kLeast), 0, 0, word(kLeast)},
           {"abs.s64 %w3, %w10", wide(kLeastWide), 0, 0, wide(kLeastWide)},
           {"abs.s16 %h3, %h10", half_word(-300), 0, 0, 300},
       }) {
    expect_result(operation);
  }
}

TEST(IntegerOperations, MultiplyLowHighAndWide) {
  for (const OperationCase& operation : {
           OperationCase{"mul.lo.s32 %r3, %r10, %r11", word(kLeast), word(-1), 0, word(kLeast)},
           {"mul.lo.u32 %r3, %r10, %r11", 0x10001, 0x10001, 0, 0x20001},
           {"mul.lo.u16 %h3, %h10, %h11", 0xffff, 0xffff, 0, 1},
           {"mul.lo.s64 %w3, %w10, %w11", wide(-3), 7, 0, wide(-21)},
           {"mul.hi.u32 %r3, %r10, %r11", 0xffffffffU, 0xffffffffU, 0, 0xfffffffeU},
           {"mul.hi.s32 %r3, %r10, %r11", word(-1), word(-1), 0, 0},
           {"mul.hi.s32 %r3, %r10, %r11", word(kLeast), word(kLeast), 0, 0x40000000U},
           {"mul.hi.u64 %w3, %w10, %w11", ~std::uint64_t{0}, 2, 0, 1},
           {"mul.hi.s64 %w3, %w10, %w11", wide(-1), 2, 0, wide(-1)},
           {"mul.hi.u16 %h3, %h10, %h11", 0xffff, 0xffff, 0, 0xfffe},
           {"mul.wide.s32 %w3, %r10, %r11", word(-2), 3, 0, wide(-6)},
           {"mul.wide.u32 %w3, %r10, %r11", 0xffffffffU, 0xffffffffU, 0, 0xfffffffe00000001U},
           {"mul.wide.s16 %r3, %h10, %h11", half_word(-2), 3, 0, word(-6)},
           {"mul.wide.u16 %r3, %h10, %h11", 0xffff, 0xffff, 0, 0xfffe0001U},
           {"mad.lo.s32 %r3, %r10, %r11, %r12", 7, word(-3), 20, word(-1)},
           {"mad.hi.u32 %r3, %r10, %r11, %r12", 0x80000000U, 4, 5, 7},
           {"mad.wide.s32 %w3, %r10, %r11, %w12", word(-1), 8, 4, wide(-4)},
           {"mad.wide.u32 %w3, %r10, %r11, %w12", 0xffffffffU, 2, 1, 0x1ffffffffU},
           {"mad.wide.u16 %r3, %h10, %h11, %r12", 0xffff, 2, 1, 0x1ffffU},
           {"mad.lo.u64 %w3, %w10, %w11, %w12", 1, wide(-1), 1, 0},
       }) {
    expect_result(operation);
  }
}

TEST(IntegerOperations, DivideTowardsZero) {
  for (const OperationCase& operation : {
           OperationCase{"div.s32 %r3, %r10, %r11", word(-7), 2, 0, word(-3)},
           {"div.s32 %r3, %r10, %r11", word(kLeast), word(-1), 0, word(kLeast)},
           {"div.s64 %w3, %w10, %w11", wide(kLeastWide), wide(-1), 0, wide(kLeastWide)},
           {"div.u32 %r3, %r10, %r11", 0xffffffffU, 2, 0, 0x7fffffffU},
           {"div.s16 %h3, %h10, %h11", 0x8000, 0xffff, 0, 0x8000},
           {"div.u64 %w3, %w10, %w11", wide(-1), 10, 0, wide(-1) / 10},
           {"rem.s32 %r3, %r10, %r11", word(-7), 2, 0, word(-1)},
           {"rem.s32 %r3, %r10, %r11", word(kLeast), word(-1), 0, 0},
           {"rem.s64 %w3, %w10, %w11", wide(kLeastWide), wide(-1), 0, 0},
           {"rem.u32 %r3, %r10, %r11", 0xffffffffU, 10, 0, 5},
       }) {
    expect_result(operation);
  }
}

TEST(IntegerOperations, DivisionByZeroEndsNothing) {
  expect_result({"div.u32 %r3, %r10, %r11", 5, 0, 0, 0xffffffffU});
  expect_result({"rem.u32 %r3, %r10, %r11", 5, 0, 0, word(-1)});
}

TEST(IntegerOperations, TakeTheSmallerAndTheLarger) {
  for (const OperationCase& operation : {
           OperationCase{"min.s32 %r3, %r10, %r11", word(-1), 1, 0, word(-1)},
           {"min.u32 %r3, %r10, %r11", word(-1), 1, 0, 1},
           {"max.s32 %r3, %r10, %r11", word(-1), 1, 0, 1},
           {"max.u32 %r3, %r10, %r11", word(-1), 1, 0, word(-1)},
           {"min.s64 %w3, %w10, %w11", wide(kLeastWide), 0, 0, wide(kLeastWide)},
           {"max.u64 %w3, %w10, %w11", wide(kLeastWide), 0, 0, wide(kLeastWide)},
           {"min.s16 %h3, %h10, %h11", 0x8000, 0, 0, 0x8000},
           {"max.u16 %h3, %h10, %h11", 0x8000, 0, 0, 0x8000},
       }) {
    expect_result(operation);
  }
}

}  // namespace
}  // namespace fatune::emulate
