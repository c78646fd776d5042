#include "model/input_kind.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/cpu_reference.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kSeqLen = 96;
constexpr std::int64_t kDHead = 64;

HeadInputs make(InputKind kind, std::uint64_t seed = 1, bool causal = false) {
  return make_head_inputs({kSeqLen, kDHead, DType::fp16, causal, {}}, kind, seed);
}

double mean_square(const std::vector<std::uint16_t>& tensor) {
  return std::accumulate(tensor.begin(), tensor.end(), 0.0,
                         [](double sum, std::uint16_t bits) {
                           const double x = element_value(bits, DType::fp16);
                           return sum + x * x;
                         }) /
         static_cast<double>(tensor.size());
}

std::int64_t place_of_one(const std::vector<std::uint16_t>& tensor) {
  const auto one = round_to_element(1.0, DType::fp16);
  EXPECT_EQ(std::count(tensor.begin(), tensor.end(), one), 1);
  EXPECT_EQ(std::count(tensor.begin(), tensor.end(), 0), kSeqLen * kDHead - 1);
  return std::find(tensor.begin(), tensor.end(), one) - tensor.begin();
}

TEST(HeadInputs, RandomIsNormalAndFollowsTheSeed) {
  const HeadInputs inputs = make(InputKind::normal);
  EXPECT_NEAR(mean_square(inputs.q), 1.0, 0.1);
  EXPECT_NEAR(mean_square(inputs.v), 1.0, 0.1);
  EXPECT_NE(inputs.q, inputs.k);
  EXPECT_EQ(inputs.v, make(InputKind::normal).v);
  EXPECT_NE(inputs.v, make(InputKind::normal, 2).v);
}

TEST(HeadInputs, LargeLogitsComeFromTheQueries) {
  const HeadInputs inputs = make(InputKind::large_logits);
  EXPECT_NEAR(mean_square(inputs.q), 49.0, 5.0);
  EXPECT_NEAR(mean_square(inputs.k), 1.0, 0.1);
}

TEST(HeadInputs, ADominatingKeyHasLogitsOfAboutSixteen) {
  const HeadInputs inputs = make(InputKind::dominating_key);
  std::vector<double> mean_logits;  // of each key, over the queries
  for (std::int64_t key = 0; key < kSeqLen; ++key) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < kSeqLen * kDHead; ++i) {
      const auto at = static_cast<std::size_t>(key * kDHead + i % kDHead);
      sum += element_value(inputs.q[static_cast<std::size_t>(i)], DType::fp16) *
             element_value(inputs.k[at], DType::fp16);
    }
    mean_logits.push_back(sum / static_cast<double>(kSeqLen) / std::sqrt(double{kDHead}));
  }
  std::sort(mean_logits.begin(), mean_logits.end());
  EXPECT_NEAR(mean_logits.back(), 16.0, 1.0);
  EXPECT_LT(mean_logits[mean_logits.size() - 2], 5.0);
  EXPECT_NEAR(mean_square(inputs.q), 2.0, 0.2);
}

TEST(HeadInputs, ExtremeScoresAreOneHugeOneOrEqual) {
  const HeadInputs inputs = make(InputKind::extreme_scores);
  const auto score = [&](std::int64_t row, std::int64_t key) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < kDHead; ++i) {
      sum += element_value(inputs.q[static_cast<std::size_t>(row * kDHead + i)], DType::fp16) *
             element_value(inputs.k[static_cast<std::size_t>(key * kDHead + i)], DType::fp16);
    }
    return sum / std::sqrt(double{kDHead});
  };
  constexpr std::int64_t kLast = kSeqLen - 1;
  EXPECT_NEAR(score(kLast, kLast), 200.0, 1e-3);
  EXPECT_EQ(score(kLast, 0), 0.0);
  EXPECT_NEAR(score(kLast - 1, 0), 200.0, 1e-3);
  EXPECT_NEAR(score(kLast - 2, 0), -200.0, 1e-3);
  double greatest = 0.0;
  for (std::int64_t key = 0; key < kSeqLen; ++key) {
    greatest = std::max(greatest, score(kLast - 2, key));
    EXPECT_EQ(score(kLast - 3, key), 0.0) << key;
  }
  EXPECT_NEAR(greatest, 200.0, 1e-3) << "somewhere between";
}

TEST(HeadInputs, LargeValuesAreFiniteAndNearTheGreatestNumber) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    const HeadInputs inputs =
        make_head_inputs({kSeqLen, kDHead, dtype, false, {}}, InputKind::large_values, 1);
    const double greatest = dtype == DType::fp16 ? 65504.0 : 1e31;
    for (const std::uint16_t bits : inputs.v) {
      const double size = std::abs(element_value(bits, dtype));
      EXPECT_TRUE(size > 0.45 * greatest && size < 1.01 * greatest) << size;
    }
  }
}

TEST(HeadInputs, RangeFallsFromTwoToZero) {
  const HeadInputs inputs = make(InputKind::range);
  EXPECT_EQ(element_value(inputs.k.front(), DType::fp16), 2.0);
  EXPECT_EQ(element_value(inputs.k[inputs.k.size() / 2], DType::fp16), 1.0);
  EXPECT_TRUE(std::is_sorted(inputs.k.rbegin(), inputs.k.rend()));
}

TEST(HeadInputs, OneHotMeetsInAColumnAndAKeyThatTheQuerySees) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const HeadInputs inputs = make(InputKind::onehot, seed, true);
    const std::int64_t query = place_of_one(inputs.q);
    const std::int64_t key = place_of_one(inputs.k);
    EXPECT_EQ(query % kDHead, key % kDHead);
    EXPECT_GE(query / kDHead, key / kDHead);
    EXPECT_EQ(place_of_one(inputs.v) / kDHead, key / kDHead);
  }
}

TEST(HeadInputs, IdentityRepeatsAndConstantIsOne) {
  const std::uint16_t one = round_to_element(1.0, DType::fp16);
  const HeadInputs identity = make(InputKind::identity);
  EXPECT_EQ(identity.q[0], one);
  EXPECT_EQ(identity.q[static_cast<std::size_t>(kDHead + 1)], one);
  EXPECT_EQ(identity.q[static_cast<std::size_t>((kDHead + 3) * kDHead + 3)], one);
  EXPECT_EQ(std::count(identity.q.begin(), identity.q.end(), one), kSeqLen);
  const HeadInputs constant = make(InputKind::constant);
  EXPECT_EQ(std::count(constant.v.begin(), constant.v.end(), one), kSeqLen * kDHead);
}

}  // namespace
}  // namespace fatune
