#include "proof/compare_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "model/cpu_reference.hpp"

namespace fatune {
namespace {

std::vector<double> values_of(const std::vector<std::uint16_t>& elements, DType dtype) {
  std::vector<double> values;
  for (const std::uint16_t bits : elements) {
    values.push_back(element_value(bits, dtype));
  }
  return values;
}

std::vector<double> plain_attention(const HeadProblem& head, const HeadInputs& inputs) {
  return cpu_attention(head.problem(), values_of(inputs.q, head.dtype),
                       values_of(inputs.k, head.dtype), values_of(inputs.v, head.dtype));
}

double greatest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double greatest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    greatest = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                      : std::max(greatest, difference);
  }
  return greatest;
}

struct Extents {
  std::int64_t queries, keys, steps_per_part;
};

using Case = std::tuple<InputKind, bool, Extents, StepOrder>;

class Blockwise : public testing::TestWithParam<Case> {
 protected:
  static HeadProblem head(DType dtype = DType::fp16) {
    const auto [kind, causal, extents, order] = GetParam();
    const BlockTiles tiles{32, 16, order, 0.0, extents.steps_per_part};
    return {extents.queries, 32, dtype, causal, tiles, extents.keys};
  }
  static HeadInputs inputs(const HeadProblem& head) {
    return make_head_inputs(head, std::get<InputKind>(GetParam()), 7);
  }
};

TEST_P(Blockwise, Float64EndsWithThePlainFormula) {
  const HeadProblem h = head();
  const HeadInputs in = inputs(h);
  const StepValues values = compute_blockwise(h, in, Arithmetic::float64);
  EXPECT_LE(greatest_difference(values.output, plain_attention(h, in)), 1e-12);
}

TEST_P(Blockwise, SixteenBitEndsNearIt) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    const HeadProblem h = head(dtype);
    const HeadInputs in = inputs(h);
    const StepValues values = compute_blockwise(h, in, Arithmetic::sixteen_bit);
    const double unit = dtype == DType::fp16 ? 0x1p-10 : 0x1p-7;  // the ulp of values from 1 to 2
    EXPECT_LE(greatest_difference(values.output, plain_attention(h, in)), 4 * unit);
  }
}

// Recomputes each row and step from the scores alone.
TEST_P(Blockwise, EveryStepIsTheSumOverThePartsKeysSoFar) {
  const HeadProblem h = head();
  const HeadInputs in = inputs(h);
  const std::vector<double> v = values_of(in.v, h.dtype);
  const StepValues values = compute_blockwise(h, in, Arithmetic::float64);
  for (std::int64_t row = 0; row < h.seq_len; row += 5) {
    const std::int64_t block = row / h.tiles.query_rows;
    std::vector<std::int64_t> seen;
    for (std::int64_t step = 0; step < h.steps(block); ++step) {
      const std::int64_t tile = h.tile_of(block, step);
      if (h.begins_part(block, step)) {
        seen.clear();
      }
      for (std::int64_t i = 0; i < h.tiles.keys_per_step; ++i) {
        seen.push_back(tile * h.tiles.keys_per_step + i);
      }
      const std::size_t at = row_index(h, tile, row);
      const auto score = [&](std::int64_t key) {
        return values.s[static_cast<std::size_t>(row * h.keys() + key)];
      };
      double greatest = -std::numeric_limits<double>::infinity();
      for (const std::int64_t key : seen) {
        greatest = std::max(greatest, score(key));
      }
      ASSERT_EQ(values.m[at], greatest);
      double l = 0.0;
      double o = 0.0;
      for (const std::int64_t key : seen) {
        const double p = std::isinf(score(key)) ? 0.0 : std::exp2(score(key) - greatest);
        l += p;
        o += p == 0.0 ? 0.0 : p * v[static_cast<std::size_t>(key * h.d_head + 3)];
      }
      EXPECT_NEAR(values.l[at], l, 1e-12 * (1 + l));
      EXPECT_NEAR(values.o[at * static_cast<std::size_t>(h.d_head) + 3], o, 1e-11);
    }
  }
}

TEST_P(Blockwise, ALaggingReferenceChangesNothingInTheEnd) {
  const HeadProblem h = head();
  const HeadInputs in = inputs(h);
  StepValues values = compute_blockwise(h, in, Arithmetic::float64);
  const std::vector<double> output = values.output;
  for (double& m : values.m) {
    m -= 3.0;
  }
  const StepValues lagging = compute_blockwise(h, in, Arithmetic::float64, values.m);
  EXPECT_EQ(lagging.m.front(), values.m.front());
  EXPECT_LE(greatest_difference(lagging.output, output), 1e-12);
  EXPECT_NEAR(lagging.l.front() / values.l.front(), 8.0, 1e-9);
}

std::string case_name(const testing::TestParamInfo<Case>& tested) {
  const auto [kind, causal, extents, order] = tested.param;
  return std::string(input_kind_name(kind)) + (causal ? "_causal_" : "_") +
         std::to_string(extents.queries) + "_of_" + std::to_string(extents.keys) +
         (order == StepOrder::last_to_first ? "_back" : "_forth");
}

INSTANTIATE_TEST_SUITE_P(
    Heads, Blockwise,
    testing::Combine(testing::Values(InputKind::normal, InputKind::range, InputKind::onehot,
                                     InputKind::identity, InputKind::constant,
                                     InputKind::large_logits),
                     testing::Bool(), testing::Values(Extents{77, 77, 0}, Extents{9, 100, 2}),
                     testing::Values(StepOrder::first_to_last, StepOrder::last_to_first)),
    case_name);

// Queries 0 to 15 of a block of 32 see none of keys 16 to 31.
TEST(BlockwiseMask, ARowThatHasSeenNothingYetIsZero) {
  const HeadProblem head{32, 32, DType::fp16, true, {32, 16, StepOrder::last_to_first, 0.0}};
  const HeadInputs inputs = make_head_inputs(head, InputKind::normal, 1);
  for (const Arithmetic arithmetic : {Arithmetic::float64, Arithmetic::sixteen_bit}) {
    const StepValues values = compute_blockwise(head, inputs, arithmetic);
    const std::size_t at = row_index(head, 1, 5);
    EXPECT_EQ(values.m[at], -std::numeric_limits<double>::infinity());
    EXPECT_EQ(values.l[at], 0.0);
    EXPECT_EQ(values.o[at * 32], 0.0);
    EXPECT_EQ(values.p[5 * 32 + 16], 0.0);
    EXPECT_EQ(values.l[row_index(head, 0, 0)], 1.0) << "one key";
  }
}

}  // namespace
}  // namespace fatune
