#include "runtime/launch_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "attention/forward_arguments.hpp"
#include "runtime/facts.hpp"
#include "unit/runtime/sample_table.hpp"

namespace fatune_attention::detail {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// True if the calls make a builder fail.
template <typename Calls>
bool fails(Calls calls) {
  LaunchBuilder builder;
  builder.begin_argument();
  calls(builder);
  builder.end_argument();
  return !builder.ok();
}

/// Expects a call to take the least and the greatest value of an integer type, and to refuse the
/// next values beyond them, fractions, NaN and infinity.
#define EXPECT_RANGE(call, least, most)                                           \
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.call(least); }));       \
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.call(most); }));        \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.call((least)-1.0); }));  \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.call((most) + 1.0); })); \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.call(0.5); }));          \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.call(kNan); }));         \
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.call(kInf); }))

TEST(LaunchBuilder, TakesIntegersOfTheirTypeAlone) {
  EXPECT_RANGE(int8, -128.0, 127.0);
  EXPECT_RANGE(uint8, 0.0, 255.0);
  EXPECT_RANGE(int16, -32768.0, 32767.0);
  EXPECT_RANGE(uint16, 0.0, 65535.0);
  EXPECT_RANGE(int32, -2147483648.0, 2147483647.0);
  EXPECT_RANGE(uint32, 0.0, 4294967295.0);
}

TEST(LaunchBuilder, Takes64BitIntegersAsFarAsDoublesAreExact) {
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.int64(-0x1p53); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.int64(0x1p53 + 2); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.int64(0x1p63); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.uint64(-1); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.uint64(0x1p64); }));
}

TEST(LaunchBuilder, TakesInfinityWhereItIsNamed) {
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.float32(kInf); }));
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.float32(-kInf, true); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.float32(1e39); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.float32(kNan, true); }));
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.float64(1e39); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.float64(kInf); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.boolean(kNan); }));
}

TEST(LaunchBuilder, TakesExtentsWithinCudasLimits) {
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.grid(2147483647, 65535, 65535); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.grid(1, 65536, 1); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.grid(0, 1, 1); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.block(1025, 1, 1); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.block(1, 1, 65); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.cluster(17, 1, 1); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.dynamic_smem_bytes(-1); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.smem_carveout_percent(101); }));
  EXPECT_FALSE(fails([](LaunchBuilder& builder) { builder.smem_carveout_percent(-1); }));
}

TEST(LaunchBuilder, RefusesClustersThatDoNotDivideTheGrid) {
  LaunchBuilder builder;
  builder.grid(6, 1, 1);
  builder.cluster(3, 1, 1);
  EXPECT_TRUE(builder.ok());
  builder.cluster(4, 1, 1);
  EXPECT_STREQ(builder.failure(), "clusters of blocks do not divide the grid");
}

TEST(LaunchBuilder, KeepsTheFirstFailure) {
  LaunchBuilder builder;
  builder.grid(0, 1, 1);
  builder.block(0, 1, 1);
  EXPECT_STREQ(builder.failure(), "the grid is beyond CUDA's limits");
}

TEST(LaunchBuilder, RefusesBuffersThatAreNone) {
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.workspace(0, 0, Clear::none); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.workspace(4, -1, Clear::once); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.buffer(0, 0); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.tensor(Operand::q, -1); }));
  EXPECT_TRUE(fails([](LaunchBuilder& builder) { builder.begin_struct(3); }));
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

TensorMap map_of(double size, int swizzle) {
  return {9, 2, {size, 8}, {256}, {64, 1}, {1, 1}, 0, swizzle, 0, 0};
}

TEST(LaunchBuilder, PlacesAddressesAndMaps) {
  LaunchBuilder builder({{0x1000, 0, 0, 0, 0}, 0x20000}, &write_encoded);
  builder.workspace(4, 0, Clear::once);
  builder.workspace(4, 0, Clear::once);
  builder.begin_argument();
  builder.begin_struct(0);
  builder.buffer(1, 16);
  builder.tensor_map(Operand::q, 32, map_of(128, 3));
  builder.buffer_map(0, 0, map_of(64, 3));
  builder.end_struct();
  builder.end_argument();
  ASSERT_TRUE(builder.ok()) << builder.failure();
  EXPECT_EQ(builder.arguments().bytes(), 64U + 2 * 128);
  EXPECT_EQ(value_at<std::uint64_t>(builder, 0), 0x20000U + 256 + 16);
  EXPECT_EQ(value_at<Encoded>(builder, 64).address, 0x1020U);
  EXPECT_EQ(value_at<Encoded>(builder, 64).size, 128);
  EXPECT_EQ(value_at<Encoded>(builder, 192).address, 0x20000U);
}

TEST(LaunchBuilder, FailsAsTheEncoderOfMapsDoes) {
  LaunchBuilder builder({}, &write_encoded);
  builder.begin_argument();
  builder.tensor_map(Operand::q, 0, map_of(128, 0));
  EXPECT_STREQ(builder.failure(), "refused");
}

TEST(LaunchBuilder, RefusesMapsWithoutWholeNumbers) {
  for (const double size : {0.5, -1.0, kNan, 0x1p41}) {
    EXPECT_TRUE(fails([&](LaunchBuilder& builder) {
      builder.tensor_map(Operand::q, 0, map_of(size, 3));
    })) << size;
  }
  EXPECT_TRUE(fails([](LaunchBuilder& builder) {
    TensorMap map = map_of(64, 3);
    map.dimensions = 6;
    builder.tensor_map(Operand::q, 0, map);
  }));
}

/// Packs the arguments of the same problem and tensors with fatune's own code.
std::vector<std::uint8_t> packed(const Problem& problem, const Addresses& addresses) {
  fatune::Problem same{problem.batch, problem.seq_len, problem.heads, problem.d_head};
  same.seq_len_kv = problem.seq_len_kv;
  same.lse = problem.lse;
  const fatune::ArgumentEncoder encoder{[&](const std::string& tensor) {
                                          const std::string names[] = {"q", "k", "v", "o", "lse"};
                                          const auto* at = std::ranges::find(names, tensor);
                                          return addresses.operands[at - names];
                                        },
                                        {}};
  return pack_arguments(attention_forward_arguments(same), encoder);
}

TEST(LaunchBuilder, PassesTheStandardArgumentsThatFatunePasses) {
  const Addresses addresses{{0x10, 0x20, 0x30, 0x40, 0x50}, 0};
  for (const bool lse : {false, true}) {
    for (const std::int64_t keys : {4096, 5000}) {
      Problem problem = tuned_problem();
      problem.lse = lse;
      problem.seq_len_kv = keys;
      LaunchBuilder builder(addresses, nullptr);
      builder.standard_arguments(facts_of(problem, usual_tensors(problem), fake_h200()));
      ASSERT_TRUE(builder.ok());
      ASSERT_EQ(builder.arguments().count(), 1);
      const unsigned char* bytes = builder.arguments().data();
      EXPECT_EQ(std::vector<std::uint8_t>(bytes, bytes + builder.arguments().bytes()),
                packed(problem, addresses));
    }
  }
}

}  // namespace
}  // namespace fatune_attention::detail
