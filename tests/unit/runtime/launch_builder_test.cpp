#include "runtime/launch_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace fatune_attention::detail {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// True if the calls make a builder fail.
template <typename Calls>
bool fails(Calls calls) {
  LaunchBuilder builder;
  builder.add(Call::begin_argument);
  calls(builder);
  builder.add(Call::end_argument);
  return !builder.ok();
}

/// Expects a call to take the least and the greatest value of an integer type, and to refuse the
/// next values beyond them, fractions, NaN and infinity.
#define EXPECT_RANGE(call, least, most)                                                        \
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.add(Call::call, {least}); }));       \
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.add(Call::call, {most}); }));        \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::call, {(least)-1.0}); }));  \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::call, {(most) + 1.0}); })); \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::call, {0.5}); }));          \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::call, {kNan}); }));         \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::call, {kInf}); }))

TEST(LaunchBuilder, TakesIntegersOfTheirTypeAlone) {
  EXPECT_RANGE(int8, -128.0, 127.0);
  EXPECT_RANGE(uint8, 0.0, 255.0);
  EXPECT_RANGE(int16, -32768.0, 32767.0);
  EXPECT_RANGE(uint16, 0.0, 65535.0);
  EXPECT_RANGE(int32, -2147483648.0, 2147483647.0);
  EXPECT_RANGE(uint32, 0.0, 4294967295.0);
}

TEST(LaunchBuilder, Takes64BitIntegersAsFarAsDoublesAreExact) {
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.add(Call::int64, {-0x1p53}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::int64, {0x1p53 + 2}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::int64, {0x1p63}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::uint64, {-1}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::uint64, {0x1p64}); }));
}

TEST(LaunchBuilder, TakesInfinityWhereItIsNamed) {
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::float32, {kInf}); }));
  EXPECT_FALSE(
      fails([](LaunchBuilder& builder) { builder.add(Call::float32_or_infinity, {-kInf}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::float32, {1e39}); }));
  EXPECT_TRUE(
      fails([](LaunchBuilder& builder) { builder.add(Call::float32_or_infinity, {kNan}); }));
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.add(Call::float64, {1e39}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::float64, {kInf}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::boolean, {kNan}); }));
}

TEST(LaunchBuilder, TakesExtentsWithinCudasLimits) {
  EXPECT_FALSE(fails([](LaunchBuilder& builder) {
    builder.add(Call::grid, {2147483647, 65535, 65535});
  }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::grid, {1, 65536, 1}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::grid, {0, 1, 1}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::block, {1025, 1, 1}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::block, {1, 1, 65}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::cluster, {17, 1, 1}); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::dynamic_smem_bytes, {-1}); }));
  EXPECT_TRUE(
      fails([](LaunchBuilder& builder) { builder.add(Call::smem_carveout_percent, {101}); }));
  EXPECT_FALSE(
      fails([](LaunchBuilder& builder) { builder.add(Call::smem_carveout_percent, {-1}); }));
}

TEST(LaunchBuilder, RefusesClustersThatDoNotDivideTheGrid) {
  LaunchBuilder builder;
  builder.add(Call::grid, {6, 1, 1});
  builder.add(Call::cluster, {3, 1, 1});
  EXPECT_TRUE(builder.ok());
  builder.add(Call::cluster, {4, 1, 1});
  EXPECT_STREQ(builder.failure(), "clusters of blocks do not divide the grid");
}

TEST(LaunchBuilder, KeepsTheFirstFailure) {
  LaunchBuilder builder;
  builder.add(Call::grid, {0, 1, 1});
  builder.add(Call::block, {0, 1, 1});
  EXPECT_STREQ(builder.failure(), "the grid is beyond CUDA's limits");
}

TEST(LaunchBuilder, RefusesBuffersThatAreNone) {
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.workspace(0, 0, Clear::none); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.workspace(4, -1, Clear::once); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::address, {0}, buffer(0)); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::address, {-1}, Operand::q); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.add(Call::begin_struct, {3}); }));
}

struct Encoded {
  std::uint64_t address = 0;
  double size = 0;
};

const char* write_encoded(const TensorMap& map, std::uint64_t address, void* bytes) {
  const Encoded encoded{address, map.sizes[0]};
  std::memcpy(bytes, &encoded, sizeof encoded);
  return map.swizzle == 3 ? nullptr : "refused";
}

template <typename Value>
Value value_at(const LaunchBuilder& builder, std::size_t offset) {
  Value value;
  std::memcpy(&value, builder.arguments().data() + offset, sizeof value);
  return value;
}

/// Adds a map of (size, 8) elements.
void add_map(LaunchBuilder& builder, double offset_bytes, double size, double swizzle,
             Operand tensor = Operand::q) {
  builder.add(Call::tensor_map, {offset_bytes, 9, 0, swizzle, 0, 0, size, 8, 256, 64, 1, 1, 1},
              tensor);
}

TEST(LaunchBuilder, PlacesAddressesAndMaps) {
  LaunchBuilder builder({{0x1000, 0, 0, 0, 0}, 0x20000}, &write_encoded);
  builder.workspace(4, 0, Clear::once);
  builder.workspace(4, 0, Clear::once);
  builder.add(Call::begin_argument);
  builder.add(Call::begin_struct, {0});
  builder.add(Call::address, {16}, buffer(1));
  add_map(builder, 32, 128, 3);
  add_map(builder, 0, 64, 3, buffer(0));
  builder.add(Call::end_struct);
  builder.add(Call::end_argument);
  ASSERT_TRUE(builder.ok()) << builder.failure();
  EXPECT_EQ(builder.arguments().bytes(), 64U + 2 * 128);
  EXPECT_EQ(value_at<std::uint64_t>(builder, 0), 0x20000U + 256 + 16);
  EXPECT_EQ(value_at<Encoded>(builder, 64).address, 0x1020U);
  EXPECT_EQ(value_at<Encoded>(builder, 64).size, 128);
  EXPECT_EQ(value_at<Encoded>(builder, 192).address, 0x20000U);
}

TEST(LaunchBuilder, FailsAsTheEncoderOfMapsDoes) {
  LaunchBuilder builder({}, &write_encoded);
  builder.add(Call::begin_argument);
  add_map(builder, 0, 128, 0);
  EXPECT_STREQ(builder.failure(), "refused");
}

TEST(LaunchBuilder, RefusesMapsWithoutWholeNumbers) {
  for (const double size : {0.5, -1.0, kNan, 0x1p41}) {
    EXPECT_TRUE(fails([&](LaunchBuilder& builder) { add_map(builder, 0, size, 3); })) << size;
  }
  for (const double swizzle : {-1.0, 32.0}) {
    EXPECT_TRUE(fails([&](LaunchBuilder& builder) { add_map(builder, 0, 64, swizzle); }));
  }
  EXPECT_TRUE(fails([](LaunchBuilder& builder) {
    builder.add(Call::tensor_map, {0, 9, 0, 0, 0, 0});
  }));
}

TEST(LaunchBuilder, SaysWhichValueIsOutOfRange) {
  LaunchBuilder builder;
  builder.add(Call::block, {32, 1, 65});
  EXPECT_EQ(builder.details().value, 2);
  EXPECT_EQ(builder.details().least, 1);
  EXPECT_EQ(builder.details().most, 64);
}

}  // namespace
}  // namespace fatune_attention::detail
