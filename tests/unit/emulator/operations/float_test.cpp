#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "unit/emulator/operations/operation_case.hpp"

namespace fatune::emulate {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kTiny = 0x1p-140F;  // subnormal

bool is_nan(const OperationCase& operation) {
  return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(result_of(operation))));
}

TEST(FloatOperations, RoundToNearest) {
  for (const OperationCase& operation : {
           OperationCase{"add.f32 %f3, %f10, %f11", bits(1.0F), bits(0x1p-24F), 0, bits(1.0F)},
           {"add.rn.f32 %f3, %f10, %f11", bits(1.0F), bits(0x1.8p-24F), 0, bits(0x1.000002p0F)},
           {"sub.f32 %f3, %f10, %f11", bits(1.5F), bits(2.0F), 0, bits(-0.5F)},
           {"mul.f32 %f3, %f10, %f11", bits(-3.0F), bits(0.0F), 0, bits(-0.0F)},
           {"mul.f32 %f3, %f10, 0f40000000", bits(3.0F), 0, 0, bits(6.0F)},
           {"add.f64 %d3, %d10, %d11", bits(0.1), bits(0.2), 0, bits(0.1 + 0.2)},
           {"mul.f64 %d3, %d10, 0d4000000000000000", bits(0.1), 0, 0, bits(0.2)},
           {"div.rn.f32 %f3, %f10, %f11", bits(1.0F), bits(3.0F), 0, bits(1.0F / 3.0F)},
           {"div.rn.f64 %d3, %d10, %d11", bits(1.0), bits(3.0), 0, bits(1.0 / 3.0)},
           {"div.rn.f32 %f3, %f10, %f11", bits(-1.0F), bits(0.0F), 0, bits(-kInfinite)},
           {"neg.f32 %f3, %f10", bits(0.0F), 0, 0, bits(-0.0F)},
           {"abs.f32 %f3, %f10", bits(-kInfinite), 0, 0, bits(kInfinite)},
       }) {
    expect_result(operation);
  }
}

TEST(FloatOperations, FuseMultiplicationAndAddition) {
  // The product's last bits matter. If it were rounded before the addition, the result would be 0.
  constexpr float kA = 0x1.000002p0F;
  expect_result(
      {"fma.rn.f32 %f3, %f10, %f10, %f12", bits(kA), 0, bits(-0x1.000004p0F), bits(0x1p-46F)});
  expect_result({"fma.rn.f64 %d3, %d10, %d11, %d12", bits(2.0), bits(3.0), bits(-6.5), bits(-0.5)});
}

TEST(FloatOperations, FlushSubnormalsOnlyWhenAskedTo) {
  for (const OperationCase& operation : {
           OperationCase{"add.f32 %f3, %f10, %f11", bits(kTiny), bits(kTiny), 0, bits(2 * kTiny)},
           {"add.ftz.f32 %f3, %f10, %f11", bits(kTiny), bits(kTiny), 0, bits(0.0F)},
           {"mul.ftz.f32 %f3, %f10, %f11", bits(-0x1p-100F), bits(0x1p-40F), 0, bits(-0.0F)},
           {"mul.f32 %f3, %f10, %f11", bits(0x1p-100F), bits(0x1p-40F), 0, bits(kTiny)},
           {"fma.rn.ftz.f32 %f3, %f10, %f11, %f12", bits(kTiny), bits(0x1p100F), bits(1.0F),
            bits(1.0F)},
           {"neg.ftz.f32 %f3, %f10", bits(kTiny), 0, 0, bits(-0.0F)},
           {"max.ftz.f32 %f3, %f10, %f11", bits(kTiny), bits(-1.0F), 0, bits(0.0F)},
       }) {
    expect_result(operation);
  }
}

TEST(FloatOperations, MinimumAndMaximumPreferNumbersAndOrderZeros) {
  for (const OperationCase& operation : {
           OperationCase{"min.f32 %f3, %f10, %f11", bits(kNan), bits(1.0F), 0, bits(1.0F)},
           {"min.f32 %f3, %f10, %f11", bits(1.0F), bits(kNan), 0, bits(1.0F)},
           {"max.f32 %f3, %f10, %f11", bits(kNan), bits(-kInfinite), 0, bits(-kInfinite)},
           {"min.f32 %f3, %f10, %f11", bits(0.0F), bits(-0.0F), 0, bits(-0.0F)},
           {"min.f32 %f3, %f10, %f11", bits(-0.0F), bits(0.0F), 0, bits(-0.0F)},
           {"max.f32 %f3, %f10, %f11", bits(0.0F), bits(-0.0F), 0, bits(0.0F)},
           {"max.f32 %f3, %f10, %f11", bits(-0.0F), bits(0.0F), 0, bits(0.0F)},
           {"max.f32 %f3, %f10, %f11", bits(-2.0F), bits(-3.0F), 0, bits(-2.0F)},
           {"min.f64 %d3, %d10, %d11", bits(-2.0), bits(3.0), 0, bits(-2.0)},
       }) {
    expect_result(operation);
  }
  EXPECT_TRUE(is_nan({"max.f32 %f3, %f10, %f11", bits(kNan), bits(kNan), 0, 0}));
}

TEST(FloatOperations, NanComesOfWhatHasNoValue) {
  EXPECT_TRUE(is_nan({"sub.f32 %f3, %f10, %f11", bits(kInfinite), bits(kInfinite), 0, 0}));
  EXPECT_TRUE(is_nan({"mul.f32 %f3, %f10, %f11", bits(kInfinite), bits(0.0F), 0, 0}));
  EXPECT_TRUE(is_nan({"sqrt.rn.f32 %f3, %f10", bits(-1.0F), 0, 0, 0}));
  EXPECT_TRUE(is_nan({"lg2.approx.f32 %f3, %f10", bits(-1.0F), 0, 0, 0}));
}

TEST(FloatOperations, Approximations) {
  for (const OperationCase& operation : {
           OperationCase{"ex2.approx.ftz.f32 %f3, %f10", bits(3.0F), 0, 0, bits(8.0F)},
           {"ex2.approx.ftz.f32 %f3, %f10", bits(-kInfinite), 0, 0, bits(0.0F)},
           {"ex2.approx.ftz.f32 %f3, %f10", bits(-140.0F), 0, 0, bits(0.0F)},
           {"ex2.approx.f32 %f3, %f10", bits(-140.0F), 0, 0, bits(kTiny)},
           {"lg2.approx.f32 %f3, %f10", bits(8.0F), 0, 0, bits(3.0F)},
           {"lg2.approx.f32 %f3, %f10", bits(0.0F), 0, 0, bits(-kInfinite)},
           {"rcp.rn.f32 %f3, %f10", bits(3.0F), 0, 0, bits(1.0F / 3.0F)},
           {"rcp.approx.ftz.f32 %f3, %f10", bits(-0.0F), 0, 0, bits(-kInfinite)},
           {"sqrt.rn.f32 %f3, %f10", bits(2.0F), 0, 0, bits(std::sqrt(2.0F))},
           {"rsqrt.approx.f32 %f3, %f10", bits(0.25F), 0, 0, bits(2.0F)},
           {"sin.approx.f32 %f3, %f10", bits(0.0F), 0, 0, bits(0.0F)},
           {"cos.approx.f32 %f3, %f10", bits(0.0F), 0, 0, bits(1.0F)},
           {"tanh.approx.f32 %f3, %f10", bits(100.0F), 0, 0, bits(1.0F)},
       }) {
    expect_result(operation);
  }
}

TEST(FloatOperations, ComparisonsKnowUnordered) {
  const auto compare = [](const char* how, float a, float b) {
    return result_of({std::string("setp.") + how + ".f32 %p3, %f10, %f11", bits(a), bits(b)});
  };
  for (const char* ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"}) {
    EXPECT_EQ(compare(ordered, kNan, 1.0F), 0U) << ordered;
  }
  for (const char* unordered : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"}) {
    EXPECT_EQ(compare(unordered, 1.0F, kNan), 1U) << unordered;
  }
  EXPECT_EQ(compare("eq", 0.0F, -0.0F), 1U);
  EXPECT_EQ(compare("neu", 1.0F, 1.0F), 0U);
  EXPECT_EQ(compare("ltu", 2.0F, 1.0F), 0U);
  EXPECT_EQ(compare("num", 2.0F, 1.0F), 1U);
  EXPECT_EQ(compare("gt.ftz", kTiny, 0.0F), 0U);
  EXPECT_EQ(compare("gt", kTiny, 0.0F), 1U);
}

}  // namespace
}  // namespace fatune::emulate
