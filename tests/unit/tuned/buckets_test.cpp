#include "tuned/buckets.hpp"

#include <gtest/gtest.h>

#include "tuned/runtime_table.hpp"
#include "unit/tuned/table_samples.hpp"

namespace fatune {
namespace {

int length_bucket(std::int64_t seq_len) {
  return buckets_of(coordinates_of(samples::problem(seq_len), 100)).front();
}

TEST(Buckets, OfLengthsAreNearestPowersOfTwo) {
  EXPECT_EQ(length_bucket(4096), 12);
  EXPECT_EQ(length_bucket(2896), 11);
  EXPECT_EQ(length_bucket(2897), 12);
  EXPECT_EQ(length_bucket(5792), 12);
  EXPECT_EQ(length_bucket(5793), 13);
  EXPECT_EQ(length_bucket(1), 0);
}

TEST(Buckets, OfHeadsCountThoseForEachSm) {
  EXPECT_EQ(buckets_of(coordinates_of(samples::problem(512, 16), 128)).at(2), 1);
  EXPECT_EQ(buckets_of(coordinates_of(samples::problem(512, 1), 128)).at(2), -3);
}

TEST(Buckets, AreNeighboursUnlessAnyIsMoreThanOneApart) {
  const Coordinates at_1024 = coordinates_of(samples::problem(1024), 100);
  const auto distance = [&](const Problem& other) {
    return neighbour_distance(at_1024, coordinates_of(other, 100));
  };
  EXPECT_EQ(distance(samples::problem(1024)), Distance{});
  EXPECT_EQ(distance(samples::problem(1025))->buckets, 0);
  EXPECT_EQ(distance(samples::problem(2048))->buckets, 2) << "queries and keys";
  EXPECT_EQ(distance(samples::problem(2048, 8))->buckets, 3);
  EXPECT_FALSE(distance(samples::problem(4096)));
  Problem grouped = samples::problem(1024);
  grouped.kv_heads = 4;
  EXPECT_FALSE(distance(grouped)) << "groups of 4 are two octaves from heads of their own";
  grouped.kv_heads = 8;
  grouped.lse = true;
  EXPECT_EQ(distance(grouped)->buckets, 2);
}

bool same_kind(const Problem& a, const Problem& b) {
  return fatune_attention::detail::same_kind(runtime_problem(a), runtime_problem(b));
}

TEST(Buckets, AreOfOneKindOnly) {
  const Problem plain = samples::problem(1024);
  EXPECT_TRUE(same_kind(plain, samples::problem(8192, 1)));
  EXPECT_FALSE(same_kind(plain, samples::problem(1024, 16, true)));
  Problem other = plain;
  other.window = 128;
  EXPECT_FALSE(same_kind(plain, other));
  other = plain;
  other.dtype = DType::bf16;
  EXPECT_FALSE(same_kind(plain, other));
  other = plain;
  other.d_head_v = 128;
  EXPECT_FALSE(same_kind(plain, other));
}

}  // namespace
}  // namespace fatune
