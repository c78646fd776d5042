#include "model/cpu_reference.hpp"

#include <gtest/gtest.h>
#include "model/problem.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace fatune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ElementValue, KnownPatterns) {
  EXPECT_EQ(element_value(0x3c00, DType::fp16), 1.0);
  EXPECT_EQ(element_value(0xc000, DType::fp16), -2.0);
  EXPECT_EQ(element_value(0x7bff, DType::fp16), 65504.0);
  EXPECT_EQ(element_value(0x0001, DType::fp16), std::ldexp(1.0, -24));
  EXPECT_EQ(element_value(0x7c00, DType::fp16), kInfinity);
  EXPECT_EQ(element_value(0x3f80, DType::bf16), 1.0);
  EXPECT_EQ(element_value(0xff80, DType::bf16), -kInfinity);
  EXPECT_TRUE(std::isnan(element_value(0x7fa5, DType::fp16)));
  EXPECT_TRUE(std::isnan(element_value(0x7fa5, DType::bf16)));
}

TEST(RoundToElement, KnownRoundings) {
  EXPECT_EQ(round_to_element(1.0, DType::fp16), 0x3c00);
  EXPECT_EQ(round_to_element(1.0 + std::ldexp(1.0, -11), DType::fp16), 0x3c00) << "tie to even";
  EXPECT_EQ(round_to_element(1.0 + 3 * std::ldexp(1.0, -11), DType::fp16), 0x3c02) << "tie to even";
  EXPECT_EQ(round_to_element(2.0 - std::ldexp(1.0, -12), DType::fp16), 0x4000) << "carries";
  EXPECT_EQ(round_to_element(65519.9, DType::fp16), 0x7bff);
  EXPECT_EQ(round_to_element(65520.0, DType::fp16), 0x7c00) << "overflows";
  EXPECT_EQ(round_to_element(1e9, DType::fp16), 0x7c00);
  EXPECT_EQ(round_to_element(std::ldexp(1.0, -25), DType::fp16), 0x0000) << "tie to even";
  EXPECT_EQ(round_to_element(-0.0, DType::fp16), 0x8000);
  EXPECT_EQ(round_to_element(-kInfinity, DType::bf16), 0xff80);
  EXPECT_TRUE(std::isnan(element_value(round_to_element(NAN, DType::bf16), DType::bf16)));
}

// Both conversions agree on all 65536 patterns.
TEST(RoundToElement, IsTheInverseOfElementValue) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    for (int bits = 0; bits < 65536; ++bits) {
      const double value = element_value(static_cast<std::uint16_t>(bits), dtype);
      if (!std::isnan(value)) {
        ASSERT_EQ(round_to_element(value, dtype), bits) << dtype_name(dtype);
      }
    }
  }
}

// The float64 neighbours of a midpoint round to the element on their side.
TEST(RoundToElement, RoundsToTheNearest) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const auto lower = static_cast<std::uint16_t>(bits);
    const double middle =
        std::midpoint(element_value(lower, DType::fp16),
                      element_value(static_cast<std::uint16_t>(bits + 1), DType::fp16));
    ASSERT_EQ(round_to_element(std::nextafter(middle, 0.0), DType::fp16), bits);
    ASSERT_EQ(round_to_element(std::nextafter(middle, kInfinity), DType::fp16), bits + 1);
  }
}

std::vector<double> counting(const Problem& problem, double step) {
  std::vector<double> values(static_cast<std::size_t>(tensor_elements(problem, TensorRole::q)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = step * static_cast<double>(i % 17) - 8 * step;
  }
  return values;
}

TEST(CpuAttention, OneKeyReturnsItsValue) {
  const Problem problem{2, 1, 3, 8, DType::fp16, false};
  const std::vector<double> v = counting(problem, 0.5);
  EXPECT_EQ(cpu_attention(problem, counting(problem, 1), counting(problem, 2), v), v);
}

TEST(CpuAttention, EqualKeysAverageTheValues) {
  const Problem problem{1, 5, 2, 8, DType::fp16, false};
  const std::vector<double> zeros(80, 0.0);
  const std::vector<double> v = counting(problem, 1);
  const std::vector<double> out = cpu_attention(problem, v, zeros, v);
  for (std::size_t i = 0; i < 16; ++i) {  // (head, dim) of the first row
    const double mean = (v[i] + v[16 + i] + v[32 + i] + v[48 + i] + v[64 + i]) / 5;
    for (std::size_t row = 0; row < 5; ++row) {
      EXPECT_NEAR(out[16 * row + i], mean, 1e-12);
    }
  }
}

TEST(CpuAttention, CausalRowsSeeNoLaterKey) {
  Problem problem{1, 4, 1, 8, DType::fp16, true};
  const std::vector<double> q = counting(problem, 0.3);
  const std::vector<double> k = counting(problem, 0.2);
  std::vector<double> v = counting(problem, 1);
  const std::vector<double> before = cpu_attention(problem, q, k, v);
  EXPECT_EQ(std::vector(before.begin(), before.begin() + 8), std::vector(v.begin(), v.begin() + 8))
      << "the first row sees only itself";
  v[3 * 8] += 100;  // the last key's value
  const std::vector<double> after = cpu_attention(problem, q, k, v);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 24, after.begin()));
  EXPECT_NE(before[24], after[24]);
}

// Two keys, worked by hand: logits 0 and ln 3 give weights 1/4 and 3/4.
TEST(CpuAttention, WeightsAreTheSoftmaxOfScaledProducts) {
  const Problem problem{1, 2, 1, 4, DType::fp16, false};
  const std::vector<double> q{2 * std::log(3.0), 0, 0, 0, 0, 0, 0, 0};  // scale 1/2
  const std::vector<double> k{0, 0, 0, 0, 1, 0, 0, 0};
  const std::vector<double> v{4, 8, 0, 0, 0, 0, 4, 8};
  const std::vector<double> out = cpu_attention(problem, q, k, v);
  EXPECT_NEAR(out[0], 1, 1e-12);
  EXPECT_NEAR(out[1], 2, 1e-12);
  EXPECT_NEAR(out[2], 3, 1e-12);
  EXPECT_NEAR(out[3], 6, 1e-12);
}

// The same keys, and a sink as heavy as both together: it halves O.
TEST(CpuAttention, ASinkCountsInTheDenominatorAlone) {
  const Problem problem{1, 2, 1, 4, DType::fp16, false};
  const std::vector<double> q{2 * std::log(3.0), 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> k{0, 0, 0, 0, 1, 0, 0, 0};
  const std::vector<double> v{4, 8, 0, 0, 0, 0, 4, 8};
  const std::vector<float> sinks{std::log(4.0F)};
  const std::vector<double> out = cpu_attention(problem, q, k, v, sinks);
  EXPECT_NEAR(out[0], 0.5, 1e-6);
  EXPECT_NEAR(out[3], 3, 1e-6);
  EXPECT_NEAR(cpu_log_sum_exp(problem, q, k, sinks)[0], std::log(8.0), 1e-6);
  EXPECT_EQ(cpu_attention(problem, q, k, v, std::vector{-INFINITY}),
            cpu_attention(problem, q, k, v));
}

TEST(CpuAttention, ARowWithoutKeysHasItsSink) {
  Problem problem{1, 2, 1, 4, DType::fp16, true};
  problem.seq_len_kv = 1;
  const std::vector<double> q(8, 1.0);
  const std::vector<double> k(4, 1.0);
  const std::vector<float> sinks{3.0F};
  EXPECT_EQ(cpu_log_sum_exp(problem, q, k, sinks)[0], 3.0);
  EXPECT_EQ(cpu_attention(problem, q, k, k, sinks)[0], 0.0);
}

// Scores of 0 and far beyond the cap: weights of exp(0) and exp(cap).
TEST(CpuAttention, ASoftcapLimitsScores) {
  Problem problem{1, 1, 1, 4, DType::fp16, false};
  problem.seq_len_kv = 2;
  problem.softcap = static_cast<float>(std::log(3.0));
  const std::vector<double> q{1000, 0, 0, 0};
  const std::vector<double> k{0, 0, 0, 0, 1000, 0, 0, 0};
  const std::vector<double> v{4, 0, 0, 0, 0, 4, 0, 0};
  const std::vector<double> out = cpu_attention(problem, q, k, v);
  EXPECT_NEAR(out[0], 1, 1e-6);
  EXPECT_NEAR(out[1], 3, 1e-6);
}

// tanh changes a score that is small beside the cap by less than its third power.
TEST(CpuAttention, ASoftcapFarAboveScoresChangesLittle) {
  Problem problem{1, 5, 1, 8, DType::fp16, false};
  const std::vector<double> q = counting(problem, 0.1);
  const std::vector<double> v = counting(problem, 1);
  const std::vector<double> plain = cpu_attention(problem, q, q, v);
  problem.softcap = 1e4F;
  const std::vector<double> capped = cpu_attention(problem, q, q, v);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(capped[i], plain[i], 1e-6);
  }
}

}  // namespace
}  // namespace fatune
