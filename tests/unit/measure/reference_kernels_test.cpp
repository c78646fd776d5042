// The measurement kernels themselves, run on the host (device_on_host.hpp). tests/gpu runs them on
// a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "measure/tensors.hpp"
#include "model/cpu_reference.hpp"
#include "model/error_rule.hpp"
#include "model/flop.hpp"
#include "model/input_kind.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "model/problem.hpp"
#include "model/quantization_error.hpp"
#include "model/scale_rows.hpp"
#include "reference/extreme_inputs.h"
#include "reference/outlier_inputs.h"
#include "unit/measure/host_kernels.hpp"

namespace fatune {
namespace {

using Elements = std::vector<std::uint16_t>;

// Known answers of the authors' Random123 library (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(host_philox({0, 0, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(host_philox({~0U, ~0U, ~0U, ~0U}, ~0ULL),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(host_philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822ULL),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Tensors of 8 bits have two elements in each word.
struct Inputs {
  Elements q, k, v;
  std::vector<float> k_scales, v_scales, q_scales;

  [[nodiscard]] const Elements& elements(TensorRole role) const {
    return role == TensorRole::q ? q : role == TensorRole::k ? k : v;
  }
  [[nodiscard]] const std::vector<float>& scales(TensorRole role) const {
    return role == TensorRole::q ? q_scales : role == TensorRole::k ? k_scales : v_scales;
  }
};

// The scales of the inputs; without data if there are none.
InputScales scales_of(const Problem& problem, Inputs& inputs) {
  const auto view = [&](std::vector<float>& scales, TensorRole role) {
    TensorView of{};
    if (scales.empty()) {
      return of;
    }
    const TensorShape shape = scale_shape(problem, role);
    of.data = scales.data();
    of.batch_stride = shape.batch_stride;
    of.row_stride = shape.row_stride;
    of.head_stride = shape.head_stride;
    return of;
  };
  return {view(inputs.k_scales, TensorRole::k), view(inputs.v_scales, TensorRole::v),
          view(inputs.q_scales, TensorRole::q), static_cast<int>(scale_block(problem))};
}

// Empty: all sequences have seq_len_kv keys, or they are packed.
std::vector<int> keys_of(const Problem& problem) {
  const std::vector<std::int64_t> lengths = kv_lengths(problem);
  return problem.seq_lens_kv.empty() || is_packed(problem)
             ? std::vector<int>()
             : std::vector<int>(lengths.begin(), lengths.end());
}

// Entries of the table; empty: K and V are contiguous.
std::vector<int> table_of(const Problem& problem) {
  return has_pages(problem) ? page_table(problem) : std::vector<int>();
}

KeyPages pages_in(const Problem& problem, const std::vector<int>& table) {
  return table.empty() ? KeyPages{nullptr, 0, 0}
                       : KeyPages{table.data(), static_cast<int>(problem.page_size),
                                  static_cast<int>(pages_of_sequence(problem))};
}
// The first rows of packed sequences.
struct SequenceStarts {
  explicit SequenceStarts(const Problem& problem)
      : queries(starts_of(query_lengths(problem))), keys(starts_of(kv_lengths(problem))) {}

  [[nodiscard]] PackedRows of(const Problem& problem) const {
    return is_packed(problem)
               ? PackedRows{queries.data(), keys.data(), static_cast<int>(problem.batch)}
               : PackedRows{};
  }

  std::vector<std::int32_t> queries, keys;
};

constexpr std::uint64_t kSeed = 11;

/// How the inputs are made. The tables must outlive it.
FillInputsArgs fill_args(const Problem& problem, InputKind kind, std::uint64_t seed,
                         const std::vector<int>& keys, const std::vector<int>& table,
                         const SequenceStarts& starts, Inputs& inputs) {
  return {tensor_view(problem, TensorRole::q, inputs.q.data()),
          tensor_view(problem, TensorRole::k, inputs.k.data()),
          tensor_view(problem, TensorRole::v, inputs.v.data()),
          seed,
          static_cast<int>(kind),
          0,
          keys.empty() ? nullptr : keys.data(),
          starts.of(problem),
          pages_in(problem, table),
          scales_of(problem, inputs)};
}

Inputs make_inputs(const HostKernels& kernels, const Problem& problem, InputKind kind,
                   std::uint64_t seed = kSeed) {
  const std::uint16_t nan = has_scales(problem) ? 0xffff : 0x7fa5;
  const auto elements = [&](TensorRole role) {
    return Elements(static_cast<std::size_t>(tensor_bytes(problem, role)) / 2, nan);
  };
  const std::vector<int> keys = keys_of(problem);
  const std::vector<int> table = table_of(problem);
  Inputs inputs{
      elements(TensorRole::q), elements(TensorRole::k), elements(TensorRole::v), {}, {}, {}};
  if (has_scales(problem)) {
    inputs.k_scales = make_scales(problem, TensorRole::k, kind);
    inputs.v_scales = make_scales(problem, TensorRole::v, kind);
  }
  if (has_query_scales(problem)) {
    inputs.q_scales = make_scales(problem, TensorRole::q, kind);
  }
  const SequenceStarts starts(problem);
  FillInputsArgs args = fill_args(problem, kind, seed, keys, table, starts, inputs);
  args.fits_scales = has_fitted_scales(kind) ? 1 : 0;
  if (args.fits_scales != 0) {
    kernels.fill_inputs(args);
    args.fits_scales = 0;
  }
  kernels.fill_inputs(args);
  return inputs;
}

std::vector<double> values_of(const Elements& elements, DType dtype) {
  std::vector<double> values(elements.size());
  std::transform(elements.begin(), elements.end(), values.begin(),
                 [dtype](std::uint16_t bits) { return element_value(bits, dtype); });
  return values;
}

// The scale of each row of Q, K or V, in layout bshd.
std::vector<float> scales_of_rows(const Problem& problem, TensorRole role, const Inputs& inputs) {
  const TensorShape shape = tensor_shape(problem, role);
  const std::vector<float>& scales = inputs.scales(role);
  const ScaleRows blocks(problem, role);
  std::vector<float> of_rows(static_cast<std::size_t>(shape.batch * shape.rows * shape.heads));
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);  // of (batch, rows, heads)
    const std::int64_t batch = at / (shape.rows * shape.heads);
    const std::int64_t row = at / shape.heads % shape.rows;
    const std::int64_t head = at % shape.heads;
    const std::int64_t scale = scale_block(problem) > 0
                                   ? blocks.offset(batch, row, head)
                                   : scale_shape(problem, role).row_offset(batch, row, head);
    of_rows[i] = scales[static_cast<std::size_t>(scale)];
  }
  return of_rows;
}

// The values of Q, K or V: of 8 bits, what is stored times its scale.
std::vector<double> input_values(const Problem& problem, TensorRole role, const Inputs& inputs) {
  const Elements& words = inputs.elements(role);
  if (inputs.scales(role).empty()) {
    return values_of(words, dtype_of(problem, role));
  }
  const std::vector<float> scales = scales_of_rows(problem, role, inputs);
  std::vector<double> values(2 * words.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int bits = words[i / 2] >> (8 * (i % 2)) & 0xff;
    values[i] = element_value(static_cast<std::uint16_t>(bits), dtype_of(problem, role)) *
                double{scales[i / static_cast<std::size_t>(tensor_shape(problem, role).columns)]};
  }
  return values;
}

double mean_of(const std::vector<double>& values, double power) {
  double sum = 0.0;
  for (const double value : values) {
    sum += std::pow(value, power);
  }
  return sum / static_cast<double>(values.size());
}

Problem problem_of(const HostKernels& kernels, std::int64_t batch, std::int64_t seq_len,
                   std::int64_t heads, bool causal) {
  Problem problem{batch, seq_len, heads, kernels.d_head, kernels.dtype, causal};
  problem.d_head_v = kernels.d_head_v;
  return problem;
}

TEST(RandomInputs, NormalHasTheMomentsOfTheNormalDistribution) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  const Inputs inputs =
      make_inputs(kernels, problem_of(kernels, 1, 1024, 2, false), InputKind::normal);
  for (const Elements& tensor : {inputs.q, inputs.k, inputs.v}) {
    const std::vector<double> values =
        values_of(tensor, DType::fp16);  // 131072 values: sigma / sqrt(n) = 0.003
    EXPECT_NEAR(mean_of(values, 1), 0.0, 0.015);
    EXPECT_NEAR(mean_of(values, 2), 1.0, 0.02);
    EXPECT_NEAR(mean_of(values, 3), 0.0, 0.06);
    EXPECT_NEAR(mean_of(values, 4), 3.0, 0.15);
  }
}

TEST(RandomInputs, TensorsAndSeedsDiffer) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  const Problem problem = problem_of(kernels, 1, 16, 1, false);
  const Inputs inputs = make_inputs(kernels, problem, InputKind::normal);
  EXPECT_NE(inputs.q, inputs.k);
  EXPECT_NE(inputs.k, inputs.v);
  EXPECT_EQ(inputs.q, make_inputs(kernels, problem, InputKind::normal).q);
  EXPECT_NE(inputs.q, make_inputs(kernels, problem, InputKind::normal, 12).q);
}

// Scaled products of every query with every key of one head.
std::vector<std::vector<double>> logits(const Problem& problem, const Inputs& inputs,
                                        std::int64_t head) {
  const std::vector<double> q = values_of(inputs.q, problem.dtype);
  const std::vector<double> k = values_of(inputs.k, problem.dtype);
  const auto s = static_cast<std::size_t>(problem.seq_len);
  const auto d = static_cast<std::size_t>(problem.d_head);
  const auto row_step = static_cast<std::size_t>(problem.heads) * d;
  const auto first = static_cast<std::size_t>(head) * d;
  std::vector<std::vector<double>> all(s, std::vector<double>(s, 0.0));
  for (std::size_t row = 0; row < s; ++row) {
    for (std::size_t key = 0; key < s; ++key) {
      for (std::size_t i = 0; i < d; ++i) {
        all[row][key] += q[row * row_step + first + i] * k[key * row_step + first + i];
      }
      all[row][key] /= std::sqrt(static_cast<double>(d));
    }
  }
  return all;
}

TEST(RandomInputs, LargeLogitsReachThirty) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  const Problem problem = problem_of(kernels, 1, 256, 2, false);
  const Inputs inputs = make_inputs(kernels, problem, InputKind::large_logits);
  double least = 0.0;
  double greatest = 0.0;
  for (const auto& row : logits(problem, inputs, 0)) {
    least = std::min(least, *std::min_element(row.begin(), row.end()));
    greatest = std::max(greatest, *std::max_element(row.begin(), row.end()));
  }
  EXPECT_GT(greatest, 28);
  EXPECT_LT(greatest, 60);
  EXPECT_LT(least, -28);
}

class DominatingKey : public ::testing::TestWithParam<DType> {};

const HostKernels& kernels_of(DType dtype) {
  return dtype == DType::fp16 ? host_kernels_fp16_d64() : host_kernels_bf16_d40();
}

TEST_P(DominatingKey, IsOneKeyPerHeadThatTakesMostOfTheWeight) {
  const HostKernels& kernels = kernels_of(GetParam());
  const Problem problem = problem_of(kernels, 1, 128, 4, false);
  const Inputs inputs = make_inputs(kernels, problem, InputKind::dominating_key);
  std::vector<std::size_t> positions;
  for (std::int64_t head = 0; head < problem.heads; ++head) {
    const auto rows = logits(problem, inputs, head);
    const auto key_of = [](const std::vector<double>& row) {
      return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    };
    positions.push_back(key_of(rows[0]));
    for (const auto& row : rows) {
      ASSERT_EQ(key_of(row), positions.back()) << "head " << head;
      double others = 0.0;
      for (std::size_t key = 0; key < row.size(); ++key) {
        others += key == positions.back() ? 0.0 : std::exp(row[key]);
      }
      ASSERT_GT(std::exp(row[positions.back()]), 2 * others) << "head " << head;
    }
  }
  std::sort(positions.begin(), positions.end());
  EXPECT_GT(std::unique(positions.begin(), positions.end()) - positions.begin(), 1)
      << "heads have it at different positions";
}

INSTANTIATE_TEST_SUITE_P(Types, DominatingKey, ::testing::Values(DType::fp16, DType::bf16),
                         [](const auto& tested) { return std::string(dtype_name(tested.param)); });

// From the last row backwards, four patterns alternate: the last key has the greatest score, the
// first has it, the first has a score of -200, or all scores are equal.
TEST(RandomInputs, ExtremeScoresAreOneHugeOneOrEqual) {
  const HostKernels& kernels = host_kernels_bf16_d40();
  const Problem problem = problem_of(kernels, 1, 64, 2, false);
  const Inputs inputs = make_inputs(kernels, problem, InputKind::extreme_scores);
  for (std::int64_t head = 0; head < problem.heads; ++head) {
    const auto rows = logits(problem, inputs, head);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto [least, greatest] = std::minmax_element(rows[row].begin(), rows[row].end());
      const std::size_t pattern = (rows.size() - 1 - row) % 4;
      if (pattern == 3) {
        EXPECT_EQ(*least, *greatest);
        continue;
      }
      EXPECT_NEAR(*greatest, 200.0, 1.0) << "head " << head << ", row " << row;
      if (pattern < 2) {
        EXPECT_EQ(greatest - rows[row].begin(), pattern == 0 ? 63 : 0);
      } else {
        EXPECT_NEAR(rows[row].front(), -200.0, 1.0);
      }
    }
  }
}

// A kernel that uses keys behind a sequence's end is found by them.
TEST(RandomInputs, RowsBehindASequencesEndAreNotFilled) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  Problem problem = problem_of(kernels, 3, 2, 2, false);
  problem.seq_len_kv = 70;
  problem.seq_lens_kv = "70,0,33";
  const TensorShape shape = tensor_shape(problem, TensorRole::k);
  for (const InputKind kind : input_kinds(problem)) {
    const std::vector<double> k = values_of(make_inputs(kernels, problem, kind).k, problem.dtype);
    for (std::int64_t batch = 0; batch < 3; ++batch) {
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        const auto at = static_cast<std::size_t>(shape.row_offset(batch, row, 1));
        EXPECT_EQ(std::isnan(k[at]), row >= kv_lengths(problem)[static_cast<std::size_t>(batch)])
            << batch << " " << row;
      }
    }
  }
}

// The values are those of contiguous tensors, whatever the pages.
TEST(RandomInputs, AreTheSameInPages) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  for (const std::int64_t page_size : {1, 16, 64}) {
    for (const InputKind kind : input_kinds({})) {
      Problem problem = problem_of(kernels, 3, 2, 2, false);
      problem.seq_len_kv = 70;
      problem.seq_lens_kv = "70,0,33";
      const Inputs contiguous = make_inputs(kernels, problem, kind);
      problem.page_size = page_size;
      const Inputs inputs = make_inputs(kernels, problem, kind);
      EXPECT_EQ(inputs.q, contiguous.q);
      const TensorShape shape = tensor_shape(without_pages(problem), TensorRole::v);
      const KeyRows rows(problem, TensorRole::v);
      std::int64_t filled = 0;
      for (std::int64_t batch = 0; batch < 3; ++batch) {
        const std::int64_t keys = kv_lengths(problem)[static_cast<std::size_t>(batch)];
        for (std::int64_t key = 0; key < keys; ++key) {
          for (std::int64_t head = 0; head < 2; ++head) {
            const auto from = contiguous.v.begin() + shape.row_offset(batch, key, head);
            EXPECT_TRUE(
                std::equal(from, from + 64, inputs.v.begin() + rows.offset(batch, key, head)));
            filled += 64;
          }
        }
      }
      const std::vector<double> v = values_of(inputs.v, problem.dtype);
      EXPECT_EQ(std::ranges::count_if(v, [](double x) { return !std::isnan(x); }), filled);
    }
  }
}

// Nor are rows of K and V of a packed sequence that has no queries.
TEST(RandomInputs, KeysThatNoQueryMaySeeAreNotFilled) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  Problem problem = problem_of(kernels, 4, 3, 2, false);
  problem.seq_lens = "2,0,3,1";
  problem.seq_lens_kv = "4,5,0,6";
  problem.seq_len_kv = 6;
  for (const InputKind kind : input_kinds(problem)) {
    const Inputs inputs = make_inputs(kernels, problem, kind);
    for (const Elements* tensor : {&inputs.k, &inputs.v}) {
      const std::vector<double> values = values_of(*tensor, problem.dtype);
      for (std::int64_t row = 0; row < 15; ++row) {
        EXPECT_EQ(std::isnan(values[static_cast<std::size_t>(row * 2 * 64)]), row >= 4 && row < 9)
            << row;
      }
    }
    for (const double value : values_of(inputs.q, problem.dtype)) {
      EXPECT_FALSE(std::isnan(value));
    }
  }
}

// Each packed sequence has its own, at its own ends.
TEST(RandomInputs, ExtremeScoresAreInEveryPackedSequence) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  Problem problem = problem_of(kernels, 2, 40, 1, false);
  problem.seq_lens = "24,40";
  problem.seq_lens_kv = "24,40";
  problem.seq_len_kv = 40;
  const Inputs inputs = make_inputs(kernels, problem, InputKind::extreme_scores);
  Problem square = problem_of(kernels, 1, 64, 1, false);
  const std::vector<std::vector<double>> rows = logits(square, inputs, 0);
  EXPECT_NEAR(rows[23][23], 200.0, 1.0);
  EXPECT_NEAR(rows[22][0], 200.0, 1.0);
  EXPECT_NEAR(rows[63][63], 200.0, 1.0);
  EXPECT_NEAR(rows[62][24], 200.0, 1.0);
}

TEST(RandomInputs, LargeValuesAreFinite) {
  const HostKernels& kernels = host_kernels_fp16_d64();
  const Problem problem = problem_of(kernels, 1, 256, 2, false);
  const Inputs inputs = make_inputs(kernels, problem, InputKind::large_values);
  double greatest = 0.0;
  for (const double value : element_values(inputs.v, DType::fp16)) {
    EXPECT_TRUE(std::isfinite(value));
    EXPECT_GT(std::abs(value), 32000.0);
    greatest = std::max(greatest, std::abs(value));
  }
  EXPECT_GT(greatest, 60000.0);
}

struct ReferenceCase {
  const char* name;
  DType dtype;
  std::int64_t batch, seq_len, heads;
  bool causal;
  InputKind kind;
  std::vector<std::int32_t> rows;  ///< of each head; empty: all
  void (*adjust)(Problem&) = [](Problem&) {};
};

// K and V of 8 bits in three sequences, with scales of each key.
void token_scales(Problem& p) {
  p.seq_len_kv = 90, p.seq_lens_kv = "5,17,90", p.kv_heads = 2;
  p.kv_dtype = DType::e4m3, p.kv_scales = KvScales::token;
}

// Q, K and V of 8 bits.
void eight_bits(Problem& p, KvScales scales) {
  p.dtype = p.kv_dtype = DType::e4m3;
  p.kv_scales = scales;
}

void eight_bits_of_heads(Problem& p) {
  eight_bits(p, KvScales::head), p.kv_heads = 2, p.seq_len_kv = 70;
}

void pack_eight_bits(Problem& p, KvScales scales, const std::string& seq_lens,
                     const std::string& seq_lens_kv, std::int64_t longest_kv) {
  p.seq_lens = seq_lens, p.seq_lens_kv = seq_lens_kv, p.seq_len_kv = longest_kv;
  p.kv_heads = 2, p.layout = Layout::bshd;
  eight_bits(p, scales);
}

void packed_eight_bits(Problem& p) {
  pack_eight_bits(p, KvScales::head, "40,0,1,33", "80,20,0,50", 80);
}

// Blocks that sequences fill, and that they do not.
void eight_bits_of_blocks(Problem& p) {
  eight_bits(p, KvScales::block), p.kv_heads = 2, p.seq_len_kv = 256;
}

void packed_eight_bits_of_blocks(Problem& p) {
  pack_eight_bits(p, KvScales::block, "140,0,1,33", "280,20,0,129", 280);
}

void eight_bits_with_sinks(Problem& p) {
  eight_bits(p, KvScales::head), p.kv_heads = 4, p.sinks = true;
  p.softcap = 20.0F;
}

void PrintTo(const ReferenceCase& c, std::ostream* out) { *out << c.name; }

std::string case_name(const ::testing::TestParamInfo<ReferenceCase>& tested) {
  return tested.param.name;
}

class ReferenceAttention : public ::testing::TestWithParam<ReferenceCase> {
 protected:
  void SetUp() override {
    const ReferenceCase& c = GetParam();
    kernels_ = &kernels_of(c.dtype);
    problem_ = problem_of(*kernels_, c.batch, c.seq_len, c.heads, c.causal);
    c.adjust(problem_);
    kernels_ = has_query_scales(problem_) ? &host_kernels_q8_d64()
               : has_scales(problem_)     ? &host_kernels_e4m3_d64()
                                          : kernels_;
    keys_ = keys_of(problem_);
    starts_.emplace(problem_);
    sinks_ = make_sinks(problem_, c.kind);
    table_ = table_of(problem_);
    inputs_ = make_inputs(*kernels_, problem_, c.kind);
    choose_rows();
    const std::size_t count = rows_.size() * static_cast<std::size_t>(problem_.d_head_v);
    exact_.assign(count, -1.0F);
    rounded_.assign(count, 0xffff);
    kernels_->reference_attention(reference_args());
  }

  [[nodiscard]] ReferenceArgs reference_args() {
    return {tensor_view(problem_, TensorRole::q, inputs_.q.data()),
            tensor_view(problem_, TensorRole::k, inputs_.k.data()),
            tensor_view(problem_, TensorRole::v, inputs_.v.data()),
            selection(),
            exact_.data(),
            rounded_.data(),
            problem_.softmax_scale,
            problem_.causal ? 1 : 0,
            static_cast<int>(problem_.window),
            keys_.empty() ? nullptr : keys_.data(),
            problem_.softcap,
            sinks_.empty() ? nullptr : sinks_.data(),
            starts_->of(problem_),
            pages_in(problem_, table_),
            scales_of(problem_, inputs_)};
  }

  void choose_rows() {
    std::vector<std::int32_t> head_rows = GetParam().rows;
    const std::int64_t rows = rows_per_output_head(problem_);
    for (std::int64_t row = 0; GetParam().rows.empty() && row < rows; ++row) {
      head_rows.push_back(static_cast<std::int32_t>(row));
    }
    rows_per_head_ = head_rows.size();
    for (std::int64_t i = 0; i < output_heads(problem_); ++i) {
      rows_.insert(rows_.end(), head_rows.begin(), head_rows.end());
    }
  }

  [[nodiscard]] RowSelection selection() const {
    return {rows_.data(), static_cast<int>(rows_per_head_)};
  }
  // The index in O of element i of the selection.
  [[nodiscard]] std::size_t tensor_index(std::size_t i) const {
    const TensorShape shape = tensor_shape(problem_, TensorRole::o);
    const auto columns = static_cast<std::size_t>(shape.columns);
    const std::size_t selected = i / columns;
    const auto batch_head = static_cast<std::int64_t>(selected / rows_per_head_);
    const std::int64_t first =
        shape.row_offset(batch_head / shape.heads, rows_[selected], batch_head % shape.heads);
    return static_cast<std::size_t>(first) + i % columns;
  }

  [[nodiscard]] std::vector<double> queries() const {
    return input_values(problem_, TensorRole::q, inputs_);
  }
  [[nodiscard]] std::vector<double> keys() const {
    return input_values(problem_, TensorRole::k, inputs_);
  }
  [[nodiscard]] std::vector<double> values() const {
    return input_values(problem_, TensorRole::v, inputs_);
  }

  // The scales of V that keys have of their own.
  [[nodiscard]] std::vector<float> value_scales() const {
    return keys_have_scales(problem_) ? scales_of_rows(problem_, TensorRole::v, inputs_)
                                      : std::vector<float>();
  }

  // The approximate size of the values of V.
  [[nodiscard]] double size_of_values() const {
    const bool large = GetParam().kind == InputKind::large_values;
    return large
               ? static_cast<double>(greatest_large_value(output_dtype(problem_) == DType::bf16)) /
                     2.0
               : 1.0;
  }

  // How far a sum in fp32 may change the rounded reference.
  [[nodiscard]] double rounding() const {
    return unit_in_last_place(2.0 * size_of_values(), output_dtype(problem_));
  }

  const HostKernels* kernels_ = nullptr;
  Problem problem_;
  std::vector<int> keys_;
  std::optional<SequenceStarts> starts_;
  std::vector<float> sinks_;
  std::vector<int> table_;
  Inputs inputs_;
  std::size_t rows_per_head_ = 0;
  std::vector<std::int32_t> rows_;
  std::vector<float> exact_;
  Elements rounded_;
};

TEST_P(ReferenceAttention, Fp32ReferenceAgreesWithFloat64) {
  const std::vector<double> truth = cpu_attention(problem_, queries(), keys(), values(), sinks_);
  const double scale = size_of_values();  // values cancel in sums
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    const double want = truth[tensor_index(i)];
    ASSERT_NEAR(static_cast<double>(exact_[i]), want, 2e-5 * (scale + std::abs(want)))
        << "element " << i;
  }
}

/// Problems whose inputs have outliers. Their inputs before they are rounded to 8 bits are normal
/// numbers of 16-bit kernels, times the factors of the columns.
class UnroundedAttention : public ReferenceAttention {
 protected:
  std::vector<double> originals(TensorRole role) {
    const HostKernels& plain_kernels = host_kernels_fp16_d64();
    Problem plain = problem_;
    plain.dtype = plain.kv_dtype = DType::fp16;
    plain.kv_scales = KvScales::tensor;
    const Inputs normal = make_inputs(plain_kernels, plain, InputKind::outliers);
    std::vector<double> values = values_of(normal.elements(role), DType::fp16);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= double{outlier_factor(static_cast<int>(role), static_cast<int>(i % 64))};
    }
    return values;
  }

  UnroundedAttentionArgs args() {
    return {reference_args(),
            fill_args(problem_, InputKind::outliers, kSeed, keys_, table_, *starts_, inputs_)};
  }
};

TEST_P(UnroundedAttention, ScalesFitTheGreatestOfWhatSharesThem) {
  for (const TensorRole role : {TensorRole::q, TensorRole::k, TensorRole::v}) {
    const std::vector<float>& scales = inputs_.scales(role);
    if (scales.empty()) {
      continue;
    }
    // In layout bshd, and without pages.
    const TensorShape shape = tensor_shape(problem_, role);
    const TensorShape of_scales = scale_shape(problem_, role);
    const std::vector<double> values = originals(role);
    std::vector<double> greatest(scales.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / 64;
      double& of = greatest.at(static_cast<std::size_t>(of_scales.row_offset(
          row / (shape.rows * shape.heads), row / shape.heads % shape.rows, row % shape.heads)));
      of = std::isnan(values[i]) ? of : std::max(of, std::abs(values[i]));
    }
    const double number = problem_.kv_dtype == DType::e4m3 ? 448.0 : 57344.0;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      EXPECT_NEAR(double{scales[i]}, std::max(greatest[i] / number, 1e-8),
                  1e-3 * double{scales[i]});
    }
  }
}

TEST_P(UnroundedAttention, IsThatOfTheOriginals) {
  std::vector<float> exact(exact_.size());
  UnroundedAttentionArgs unrounded = args();
  unrounded.reference.exact = exact.data();
  kernels_->unrounded_attention(unrounded);
  const std::vector<double> truth =
      cpu_attention(problem_, originals(TensorRole::q), originals(TensorRole::k),
                    originals(TensorRole::v), sinks_);
  double greatest_step = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double size = i % 64 % 32 == 5 ? 16.0 : 1.0;  // of a column of V
    EXPECT_NEAR(double{exact[i]}, truth[tensor_index(i)], 3e-3 * size) << i;
    greatest_step = std::max(greatest_step, std::abs(double{exact[i]} - double{exact_[i]}));
  }
  EXPECT_GT(greatest_step, 0.02) << "rounding to 8 bits shows";
}

TEST_P(UnroundedAttention, IsComparedAsOnTheCpu) {
  std::vector<float> exact(exact_.size());
  UnroundedAttentionArgs unrounded = args();
  unrounded.reference.exact = exact.data();
  kernels_->unrounded_attention(unrounded);
  // The output: an exact one of the rounded inputs, but for an element that is no number.
  const auto dtype = output_dtype(problem_);
  Elements output(static_cast<std::size_t>(tensor_elements(problem_, TensorRole::o)), 0);
  Elements selected(exact_.size());
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    selected[i] = round_to_element(i == 70 ? std::nan("") : double{exact_[i]}, dtype);
    output[tensor_index(i)] = selected[i];
  }
  CompareArgs compare{};
  compare.output = tensor_view(problem_, TensorRole::o, output.data());
  compare.selection = selection();
  compare.selection.has_outliers = 1;
  compare.exact = exact.data();
  compare.elements = exact.size();
  UnroundedCounts counts{};
  kernels_->compare_unrounded({compare, &counts});
  const QuantizationSums sums =
      compare_unrounded(selected, dtype, std::vector<double>(exact.begin(), exact.end()),
                        column_units(problem_, InputKind::outliers));
  EXPECT_EQ(counts.compared, exact.size() - 1);
  EXPECT_NEAR(counts.squared_error, sums.squared_error, 1e-5 * sums.squared_error);
  EXPECT_NEAR(counts.squared, sums.squared, 1e-5 * sums.squared);
  EXPECT_FLOAT_EQ(std::bit_cast<float>(counts.max_abs_error_bits),
                  static_cast<float>(sums.max_abs_error));
  EXPECT_GT(sums.squared_error, 1e-4 * sums.squared);
}

INSTANTIATE_TEST_SUITE_P(
    Problems, UnroundedAttention,
    ::testing::Values(
        ReferenceCase{"tokens", DType::fp16, 3, 20, 4, true, InputKind::outliers, {}, token_scales},
        ReferenceCase{
            "heads", DType::fp16, 2, 40, 4, true, InputKind::outliers, {}, eight_bits_of_heads},
        ReferenceCase{"sinks",
                      DType::fp16,
                      1,
                      40,
                      4,
                      false,
                      InputKind::outliers,
                      {3, 17, 39},
                      eight_bits_with_sinks},
        ReferenceCase{
            "packed", DType::fp16, 4, 40, 4, true, InputKind::outliers, {}, packed_eight_bits}),
    case_name);

/// Statistics of the selected rows, and the norms that bound their errors.
class RowStatisticsKernels : public ReferenceAttention {
 protected:
  void SetUp() override {
    ReferenceAttention::SetUp();
    rows_of_kernel_.resize(rows_.size());
    kernels_->row_statistics({reference_args(), rows_of_kernel_.data()});
    truth_ = cpu_row_statistics(problem_, queries(), keys(), sinks_);
  }

  [[nodiscard]] const RowStatistics& truth_of(std::size_t selected) const {
    const std::size_t head = selected / rows_per_head_;
    return truth_.at(head * static_cast<std::size_t>(rows_per_output_head(problem_)) +
                     static_cast<std::size_t>(rows_[selected]));
  }

  [[nodiscard]] double limit() const {
    return row_value_limit(problem_, greatest_norm(queries(), problem_.d_head) *
                                         greatest_norm(keys(), problem_.d_head));
  }

  [[nodiscard]] RowValueCounts check(RowValue what, const std::vector<float>& output) const {
    RowValueCounts counts{};
    kernels_->check_row_values({output.data(), output.size(),
                                static_cast<int>(rows_per_output_head(problem_)),
                                static_cast<int>(what), selection(), rows_.size(),
                                rows_of_kernel_.data(), static_cast<float>(limit()), &counts});
    return counts;
  }

  /// The output of a right kernel.
  [[nodiscard]] std::vector<float> right(RowValue what) const {
    std::vector<float> output;
    for (const RowStatistics& row : truth_) {
      const double value = row.of(what);
      output.push_back(static_cast<float>(what == RowValue::sum ? std::exp(value) : value));
    }
    return output;
  }

  std::vector<RowSoftmax> rows_of_kernel_;
  std::vector<RowStatistics> truth_;
};

void expect_same_or_near(float value, double truth, double limit) {
  if (std::isinf(truth)) {
    EXPECT_EQ(static_cast<double>(value), truth);
  } else {
    EXPECT_NEAR(static_cast<double>(value), truth, limit);
  }
}

TEST_P(RowStatisticsKernels, AgreeWithFloat64WithinHalfTheLimit) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    expect_same_or_near(rows_of_kernel_[i].maximum, truth_of(i).maximum, limit() / 2);
    expect_same_or_near(rows_of_kernel_[i].log_of_sum, truth_of(i).log_of_sum, limit() / 2);
  }
}

TEST_P(RowStatisticsKernels, FindTheGreatestNorms) {
  unsigned bits[2] = {0, 0};
  const auto rows_of = [&](TensorRole role) {
    return static_cast<unsigned long long>(tensor_elements(problem_, role) / problem_.d_head);
  };
  kernels_->greatest_norms({tensor_view(problem_, TensorRole::q, inputs_.q.data()),
                            scales_of(problem_, inputs_),
                            starts_->of(problem_),
                            inputs_.k.data(),
                            {rows_of(TensorRole::q), rows_of(TensorRole::k)},
                            bits});
  const auto norm = [&](unsigned squared) {
    return std::sqrt(static_cast<double>(std::bit_cast<float>(squared)));
  };
  EXPECT_NEAR(norm(bits[0]), greatest_norm(queries(), problem_.d_head), 1e-3);
  // Of keys of 8 bits, it is that of what is stored.
  Inputs unscaled = inputs_;
  std::ranges::fill(unscaled.k_scales, 1.0F);
  EXPECT_NEAR(norm(bits[1]),
              greatest_norm(input_values(problem_, TensorRole::k, unscaled), problem_.d_head),
              1e-3);
}

TEST_P(RowStatisticsKernels, RightRowValuesHaveNoFault) {
  for (const RowValue what : {RowValue::log_sum_exp, RowValue::maximum, RowValue::sum}) {
    const RowValueCounts counts = check(what, right(what));
    EXPECT_EQ(counts.mismatched + counts.not_finite + counts.bad_reference, 0U);
    EXPECT_EQ(counts.compared, rows_.size());
    EXPECT_EQ(counts.scanned, truth_.size());
    EXPECT_EQ(static_cast<std::int64_t>(counts.none),
              problem_.sinks ? 0 : rows_without_keys(problem_));
    EXPECT_LE(static_cast<double>(std::bit_cast<float>(counts.max_abs_error_bits)), limit());
  }
}

TEST_P(RowStatisticsKernels, OneWrongRowIsFound) {
  const auto last = static_cast<std::size_t>(rows_.back()) + truth_.size() -
                    static_cast<std::size_t>(rows_per_output_head(problem_));
  std::vector<float> output = right(RowValue::log_sum_exp);
  output[last] += 1.0F;
  EXPECT_EQ(check(RowValue::log_sum_exp, output).mismatched, 1U);
  output[last] = std::bit_cast<float>(Tensors::kPoison);
  EXPECT_EQ(check(RowValue::log_sum_exp, output).mismatched, 1U);
  EXPECT_EQ(check(RowValue::log_sum_exp, output).not_finite, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RowStatisticsKernels,
    ::testing::Values(
        ReferenceCase{"all_rows", DType::fp16, 2, 40, 2, false, InputKind::normal, {}},
        ReferenceCase{"large", DType::bf16, 1, 70, 2, true, InputKind::large_logits, {0, 31, 69}},
        ReferenceCase{"extreme", DType::fp16, 1, 50, 2, false, InputKind::extreme_scores, {}},
        ReferenceCase{"fewer_keys",
                      DType::bf16,
                      2,
                      100,
                      4,
                      true,
                      InputKind::dominating_key,
                      {},
                      [](Problem& p) { p.seq_len_kv = 37, p.kv_heads = 2; }},
        ReferenceCase{"lengths",
                      DType::bf16,
                      4,
                      6,
                      2,
                      true,
                      InputKind::extreme_scores,
                      {},
                      [](Problem& p) { p.seq_len_kv = 90, p.seq_lens_kv = "0,90,1,67"; }},
        ReferenceCase{"packed",
                      DType::bf16,
                      5,
                      90,
                      2,
                      true,
                      InputKind::extreme_scores,
                      {},
                      [](Problem& p) {
                        p.seq_lens = "0,90,1,0,67", p.seq_lens_kv = "7,120,0,9,30";
                        p.seq_len_kv = 120;
                      }},
        ReferenceCase{"eight_bits_by_head",
                      DType::fp16,
                      2,
                      9,
                      8,
                      true,
                      InputKind::extreme_scores,
                      {},
                      [](Problem& p) {
                        p.seq_len_kv = 70, p.kv_heads = 4;
                        p.kv_dtype = DType::e4m3, p.kv_scales = KvScales::head;
                      }},
        ReferenceCase{"all_of_eight_bits",
                      DType::fp16,
                      1,
                      50,
                      4,
                      false,
                      InputKind::normal,
                      {},
                      [](Problem& p) { eight_bits(p, KvScales::tensor), p.kv_heads = 2; }},
        ReferenceCase{"all_of_eight_bits_by_head",
                      DType::fp16,
                      2,
                      40,
                      8,
                      true,
                      InputKind::dominating_key,
                      {},
                      eight_bits_of_heads},
        ReferenceCase{"all_of_eight_bits_packed",
                      DType::fp16,
                      4,
                      40,
                      4,
                      true,
                      InputKind::extreme_scores,
                      {},
                      packed_eight_bits},
        ReferenceCase{"all_of_eight_bits_by_block",
                      DType::fp16,
                      2,
                      150,
                      4,
                      true,
                      InputKind::dominating_key,
                      {},
                      eight_bits_of_blocks},
        ReferenceCase{"all_of_eight_bits_by_block_packed",
                      DType::fp16,
                      4,
                      140,
                      4,
                      true,
                      InputKind::extreme_scores,
                      {},
                      packed_eight_bits_of_blocks},
        ReferenceCase{"all_of_eight_bits_with_sinks",
                      DType::fp16,
                      1,
                      50,
                      8,
                      true,
                      InputKind::extreme_scores,
                      {},
                      eight_bits_with_sinks},
        ReferenceCase{"sinks",
                      DType::fp16,
                      1,
                      60,
                      8,
                      true,
                      InputKind::extreme_scores,
                      {},
                      [](Problem& p) { p.seq_len_kv = 37, p.kv_heads = 2, p.sinks = true; }},
        ReferenceCase{"capped_with_sinks",
                      DType::bf16,
                      2,
                      40,
                      4,
                      false,
                      InputKind::large_logits,
                      {},
                      [](Problem& p) { p.softcap = 20.0F, p.sinks = true; }},
        ReferenceCase{
            "pages",
            DType::bf16,
            3,
            6,
            2,
            true,
            InputKind::extreme_scores,
            {},
            [](Problem& p) { p.seq_len_kv = 90, p.seq_lens_kv = "0,17,90", p.page_size = 16; }}),
    case_name);

// The fp32 arithmetic in between may change a rounding, but by no more than a few units of P and
// one of O.
TEST_P(ReferenceAttention, SixteenBitReferenceRoundsWhereItSays) {
  const double unit = rounding();
  const std::vector<double> want =
      cpu_rounded_attention(problem_, queries(), keys(), values(), sinks_, value_scales());
  std::size_t identical = 0;
  for (std::size_t i = 0; i < rounded_.size(); ++i) {
    const double got = element_value(rounded_[i], output_dtype(problem_));
    ASSERT_NEAR(got, want[tensor_index(i)], unit) << "element " << i;
    identical += static_cast<std::size_t>(got == want[tensor_index(i)]);
  }
  EXPECT_GT(static_cast<double>(identical), 0.95 * static_cast<double>(rounded_.size()));
}

TEST_P(ReferenceAttention, TheReferencesDifferUnlessOneKeyIsAllThereIs) {
  double greatest = 0.0;
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    greatest = std::max(greatest, std::abs(static_cast<double>(exact_[i]) -
                                           element_value(rounded_[i], output_dtype(problem_))));
  }
  if (problem_.seq_len == 1) {
    EXPECT_EQ(greatest, 0.0);
  } else {
    EXPECT_GT(greatest, 0.05 * unit_in_last_place(0.5, output_dtype(problem_)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ReferenceAttention,
    ::testing::Values(
        ReferenceCase{"one_key", DType::fp16, 1, 1, 2, false, InputKind::normal, {}},
        ReferenceCase{"lengths",
                      DType::fp16,
                      4,
                      5,
                      2,
                      false,
                      InputKind::dominating_key,
                      {},
                      [](Problem& p) { p.seq_len_kv = 150, p.seq_lens_kv = "150,0,1,67"; }},
        ReferenceCase{"pages",
                      DType::fp16,
                      3,
                      5,
                      4,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) { p.seq_len_kv = 150, p.kv_heads = 2, p.page_size = 64; }},
        ReferenceCase{"pages_and_lengths",
                      DType::bf16,
                      3,
                      4,
                      2,
                      false,
                      InputKind::dominating_key,
                      {},
                      [](Problem& p) {
                        p.seq_len_kv = 150, p.seq_lens_kv = "2,140,99", p.page_size = 1;
                        p.layout = Layout::bhsd;
                      }},
        ReferenceCase{"packed_pages",
                      DType::fp16,
                      4,
                      70,
                      4,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) {
                        p.seq_lens = "70,0,1,33", p.seq_lens_kv = "140,20,0,90";
                        p.seq_len_kv = 140, p.kv_heads = 2, p.page_size = 8;
                      }},
        ReferenceCase{"windowed_lengths",
                      DType::bf16,
                      3,
                      4,
                      2,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) {
                        p.seq_len_kv = 150, p.seq_lens_kv = "2,140,99";
                        p.window = 20, p.kv_heads = 1, p.layout = Layout::bhsd;
                      }},
        ReferenceCase{"packed",
                      DType::fp16,
                      4,
                      70,
                      4,
                      true,
                      InputKind::dominating_key,
                      {},
                      [](Problem& p) { p.seq_lens = "70,1,0,33", p.kv_heads = 2; }},
        ReferenceCase{"packed_chunks",
                      DType::bf16,
                      5,
                      40,
                      2,
                      true,
                      InputKind::normal,
                      {0, 1, 40, 41, 42, 76},
                      [](Problem& p) {
                        p.seq_lens = "40,1,0,33,3", p.seq_lens_kv = "150,1,60,20,0";
                        p.seq_len_kv = 150, p.window = 25;
                      }},
        ReferenceCase{"packed_full",
                      DType::fp16,
                      3,
                      20,
                      1,
                      false,
                      InputKind::extreme_scores,
                      {},
                      [](Problem& p) {
                        p.seq_lens = "9,0,20", p.seq_lens_kv = "60,50,3", p.seq_len_kv = 60;
                      }},
        ReferenceCase{"eight_bits_by_head",
                      DType::fp16,
                      2,
                      9,
                      8,
                      true,
                      InputKind::extreme_scores,
                      {},
                      [](Problem& p) {
                        p.seq_len_kv = 70, p.kv_heads = 4;
                        p.kv_dtype = DType::e4m3, p.kv_scales = KvScales::head;
                      }},
        ReferenceCase{"eight_bits",
                      DType::fp16,
                      1,
                      50,
                      2,
                      false,
                      InputKind::normal,
                      {},
                      [](Problem& p) { p.kv_dtype = DType::e4m3; }},
        ReferenceCase{"eight_bits_by_token",
                      DType::fp16,
                      3,
                      6,
                      4,
                      true,
                      InputKind::dominating_key,
                      {},
                      token_scales},
        ReferenceCase{"eight_bits_by_page",
                      DType::fp16,
                      3,
                      6,
                      4,
                      true,
                      InputKind::large_logits,
                      {},
                      [](Problem& p) {
                        token_scales(p);
                        p.page_size = 16, p.kv_scales = KvScales::page;
                      }},
        ReferenceCase{"eight_bits_of_one_token",
                      DType::fp16,
                      3,
                      6,
                      4,
                      false,
                      InputKind::extreme_scores,
                      {},
                      token_scales},
        ReferenceCase{"eight_bits_of_packed_pages",
                      DType::fp16,
                      4,
                      40,
                      4,
                      true,
                      InputKind::extreme_scores,
                      {},
                      [](Problem& p) {
                        p.seq_lens = "40,0,1,33", p.seq_lens_kv = "80,20,0,50";
                        p.seq_len_kv = 80, p.kv_heads = 2, p.page_size = 8;
                        p.kv_dtype = DType::e4m3, p.kv_scales = KvScales::page;
                      }},
        ReferenceCase{"all_of_eight_bits",
                      DType::fp16,
                      1,
                      50,
                      4,
                      false,
                      InputKind::normal,
                      {},
                      [](Problem& p) { eight_bits(p, KvScales::tensor), p.kv_heads = 2; }},
        ReferenceCase{"all_of_eight_bits_by_head",
                      DType::fp16,
                      2,
                      40,
                      8,
                      true,
                      InputKind::large_logits,
                      {},
                      eight_bits_of_heads},
        ReferenceCase{"all_of_eight_bits_packed",
                      DType::fp16,
                      4,
                      40,
                      4,
                      true,
                      InputKind::extreme_scores,
                      {},
                      packed_eight_bits},
        ReferenceCase{"all_of_eight_bits_by_block",
                      DType::fp16,
                      2,
                      150,
                      4,
                      true,
                      InputKind::normal,
                      {},
                      eight_bits_of_blocks},
        ReferenceCase{"all_of_eight_bits_by_block_packed",
                      DType::fp16,
                      4,
                      140,
                      4,
                      true,
                      InputKind::large_logits,
                      {},
                      packed_eight_bits_of_blocks},
        ReferenceCase{"all_of_eight_bits_with_sinks",
                      DType::fp16,
                      1,
                      50,
                      8,
                      true,
                      InputKind::normal,
                      {},
                      eight_bits_with_sinks},
        ReferenceCase{"all_of_eight_bits_large",
                      DType::fp16,
                      1,
                      60,
                      2,
                      false,
                      InputKind::large_values,
                      {},
                      [](Problem& p) { eight_bits(p, KvScales::tensor); }},
        ReferenceCase{"tiles_exactly", DType::fp16, 1, 64, 2, false, InputKind::normal, {}},
        ReferenceCase{"ragged", DType::fp16, 2, 77, 2, false, InputKind::normal, {}},
        ReferenceCase{"ragged_causal", DType::fp16, 1, 77, 2, true, InputKind::normal, {}},
        ReferenceCase{"padded_head_dim", DType::bf16, 2, 70, 3, false, InputKind::normal, {}},
        ReferenceCase{"large_logits", DType::fp16, 1, 96, 1, false, InputKind::large_logits, {}},
        ReferenceCase{"extreme_scores", DType::fp16, 1, 96, 2, true, InputKind::extreme_scores, {}},
        ReferenceCase{"large_values", DType::fp16, 1, 96, 1, true, InputKind::large_values, {}},
        ReferenceCase{"large_bf16", DType::bf16, 1, 96, 1, false, InputKind::large_values, {}},
        ReferenceCase{"dominating_key", DType::bf16, 1, 96, 2, true, InputKind::dominating_key, {}},
        ReferenceCase{
            "chosen_rows", DType::fp16, 2, 150, 2, true, InputKind::normal, {0, 3, 64, 149}},
        ReferenceCase{"grouped_queries",
                      DType::fp16,
                      2,
                      50,
                      6,
                      false,
                      InputKind::dominating_key,
                      {},
                      [](Problem& p) { p.kv_heads = 2; }},
        ReferenceCase{"more_keys_causal",
                      DType::fp16,
                      1,
                      40,
                      2,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) { p.seq_len_kv = 100; }},
        ReferenceCase{"fewer_keys_causal",
                      DType::bf16,
                      2,
                      100,
                      2,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) { p.seq_len_kv = 37; }},
        ReferenceCase{"window",
                      DType::fp16,
                      1,
                      130,
                      2,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) { p.window = 33; }},
        ReferenceCase{"window_both_ways",
                      DType::bf16,
                      1,
                      90,
                      2,
                      false,
                      InputKind::normal,
                      {0, 20, 60, 89},
                      [](Problem& p) { p.window = 9, p.seq_len_kv = 70; }},
        ReferenceCase{"capped",
                      DType::fp16,
                      1,
                      70,
                      2,
                      true,
                      InputKind::large_logits,
                      {},
                      [](Problem& p) { p.softcap = 15.0F; }},
        ReferenceCase{"sinks",
                      DType::bf16,
                      1,
                      50,
                      8,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) { p.sinks = true, p.seq_len_kv = 30, p.kv_heads = 4; }},
        ReferenceCase{"heads_outside",
                      DType::fp16,
                      2,
                      50,
                      4,
                      true,
                      InputKind::normal,
                      {},
                      [](Problem& p) {
                        p.layout = Layout::bhsd;
                        p.kv_heads = 2;
                        p.softmax_scale = 0.2F;
                      }}),
    case_name);

// The output is the 16-bit reference itself, which tests then spoil.
class OutputCheck : public ReferenceAttention {
 protected:
  void SetUp() override {
    ReferenceAttention::SetUp();
    output_.assign(static_cast<std::size_t>(tensor_elements(problem_, TensorRole::o)), 0);
    for (std::size_t i = 0; i < rounded_.size(); ++i) {
      output_[tensor_index(i)] = rounded_[i];
    }
  }

  [[nodiscard]] CheckCounts check() {
    CheckCounts counts{};
    kernels_->compare_output({tensor_view(problem_, TensorRole::o, output_.data()), selection(),
                              exact_.data(), rounded_.data(), &counts, exact_.size(),
                              static_cast<float>(kMismatchAtol),
                              static_cast<float>(kMismatchRtol)});
    kernels_->scan_output(output_.data(), output_.size() / 8, &counts);
    return counts;
  }

  Elements output_;
};

float as_float(unsigned bits) { return std::bit_cast<float>(bits); }

TEST_P(OutputCheck, TheReferenceItselfHasItsOwnError) {
  const CheckCounts counts = check();
  EXPECT_EQ(counts.max_abs_error_bits, counts.max_abs_reference_error_bits);
  EXPECT_EQ(counts.max_abs_difference_bits, 0U);
  EXPECT_GT(as_float(counts.max_abs_reference_error_bits), 0.0F);
  EXPECT_GT(as_float(counts.max_abs_reference_bits), 0.0F);
  EXPECT_EQ(counts.mismatched, 0U);
  EXPECT_EQ(counts.not_finite, 0U);
  EXPECT_EQ(counts.bad_reference, 0U);
  EXPECT_EQ(counts.compared, exact_.size());
  EXPECT_EQ(counts.scanned, output_.size());
}

TEST_P(OutputCheck, OneWrongElementIsFoundWhereverItIs) {
  for (const std::size_t i : {std::size_t{0}, exact_.size() / 2, exact_.size() - 1}) {
    const std::uint16_t right = output_[tensor_index(i)];
    output_[tensor_index(i)] = round_to_element(100.0, output_dtype(problem_));
    const CheckCounts counts = check();
    EXPECT_EQ(counts.mismatched, 1U) << "element " << i;
    EXPECT_NEAR(as_float(counts.max_abs_error_bits), 100.0F, 6.0F) << "element " << i;
    EXPECT_NEAR(as_float(counts.max_abs_difference_bits), 100.0F, 6.0F) << "element " << i;
    output_[tensor_index(i)] = right;
  }
}

TEST_P(OutputCheck, NanAndInfinityAreCountedInTheWholeOutput) {
  output_.front() = 0x7fa5;
  output_.back() = round_to_element(-INFINITY, output_dtype(problem_));
  output_[output_.size() / 2 + 3] = 0x7fff;
  const CheckCounts counts = check();
  EXPECT_EQ(counts.not_finite, 3U);
  EXPECT_TRUE(std::isfinite(as_float(counts.max_abs_error_bits)));
}

TEST_P(OutputCheck, AReferenceThatIsNotFiniteIsReported) {
  exact_[5] = INFINITY;
  EXPECT_EQ(check().bad_reference, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OutputCheck,
    ::testing::Values(
        ReferenceCase{"all_rows", DType::fp16, 2, 40, 2, false, InputKind::normal, {}},
        ReferenceCase{
            "chosen_rows", DType::bf16, 2, 90, 3, true, InputKind::normal, {0, 31, 32, 89}},
        ReferenceCase{"all_of_eight_bits",
                      DType::fp16,
                      2,
                      40,
                      4,
                      false,
                      InputKind::normal,
                      {},
                      [](Problem& p) { eight_bits(p, KvScales::head), p.kv_heads = 2; }}),
    case_name);

class Guards : public ::testing::Test {
 protected:
  static constexpr unsigned kPoison = 0x7fa57fa5;
  static constexpr std::size_t kGuardBytes = 256;
  static constexpr std::size_t kTensorBytes = 400;  // padded to 512
  static constexpr std::size_t kStrideBytes = kGuardBytes + 512;
  static constexpr unsigned kBands = 3;

  Guards() : arena_((2 * kStrideBytes + kGuardBytes) / 4, kPoison) {}

  [[nodiscard]] unsigned long long changed() {
    CheckCounts counts{};
    host_kernels_fp16_d64().check_guards(
        {arena_.data(),
         {{0, kGuardBytes},
          {kGuardBytes + kTensorBytes, kStrideBytes + kGuardBytes},
          {kStrideBytes + kGuardBytes + kTensorBytes, 2 * kStrideBytes + kGuardBytes}},
         kPoison},
        kBands, &counts);
    return counts.guard_bytes_changed;
  }

  [[nodiscard]] std::uint8_t& byte(std::size_t at) {
    return reinterpret_cast<std::uint8_t*>(arena_.data())[at];
  }

  std::vector<unsigned> arena_;
};

TEST_F(Guards, IntactBandsAreIntact) { EXPECT_EQ(changed(), 0U); }

TEST_F(Guards, TensorsMayChange) {
  for (std::size_t i = 0; i < kTensorBytes; ++i) {
    byte(kGuardBytes + i) = 0;
    byte(kStrideBytes + kGuardBytes + i) = 1;
  }
  EXPECT_EQ(changed(), 0U);
}

TEST_F(Guards, EveryByteAroundATensorIsWatched) {
  for (const std::size_t at :
       {std::size_t{0}, kGuardBytes - 1, kGuardBytes + kTensorBytes, kStrideBytes - 1, kStrideBytes,
        kStrideBytes + kGuardBytes - 1, kStrideBytes + kGuardBytes + kTensorBytes,
        2 * kStrideBytes + kGuardBytes - 1}) {
    byte(at) ^= 0x10;
    EXPECT_EQ(changed(), 1U) << "byte " << at;
    byte(at) ^= 0x10;
  }
}

TEST_F(Guards, CountsBytes) {
  byte(3) = byte(4) = byte(5) = 0;
  EXPECT_EQ(changed(), 3U);
}

class InputSums : public ::testing::Test {
 protected:
  [[nodiscard]] InputSum sum() const {
    InputSum total{};
    host_kernels_fp16_d64().sum_inputs({tensors_[0].data(),
                                        tensors_[1].data(),
                                        tensors_[2].data(),
                                        {kBytes, kBytes, kBytes},
                                        &total});
    return total;
  }
  void expect_changed(const InputSum& before, const std::string& how) const {
    const InputSum after = sum();
    EXPECT_NE(after.plain, before.plain) << how;
    EXPECT_NE(after.mixed, before.mixed) << how;
  }

  static constexpr std::size_t kElements = 8 * 300;
  static constexpr unsigned long long kBytes = 2 * kElements;
  std::array<Elements, 3> tensors_{Elements(kElements, 0x3c00), Elements(kElements, 0x3c00),
                                   Elements(kElements, 0x3c00)};
};

TEST_F(InputSums, AnyBitOfAnyTensorCounts) {
  const InputSum before = sum();
  for (std::size_t tensor = 0; tensor < 3; ++tensor) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{7}, kElements / 2, kElements - 1}) {
      for (const unsigned bit : {0U, 9U, 15U}) {
        tensors_.at(tensor)[at] ^= static_cast<std::uint16_t>(1U << bit);
        expect_changed(before, "tensor " + std::to_string(tensor) + ", " + std::to_string(at));
        tensors_.at(tensor)[at] ^= static_cast<std::uint16_t>(1U << bit);
      }
    }
  }
  EXPECT_EQ(sum().plain, before.plain);
}

TEST_F(InputSums, SoDoesTheirOrder) {
  tensors_[0][3] = 1;
  const InputSum before = sum();
  std::swap(tensors_[0][3], tensors_[0][1003]);
  expect_changed(before, "two elements of Q");
  std::swap(tensors_[0][3], tensors_[0][1003]);
  std::swap(tensors_[0], tensors_[1]);
  expect_changed(before, "Q and K");
}

/// True if the gate with ticket `ticket` opened by itself.
bool expires(unsigned flag, unsigned ticket) {
  unsigned expired = 0;
  ClockMark mark{};
  host_kernels_fp16_d64().device_gate({&flag, &expired, 10 * kHostClockStepNs, ticket, &mark});
  EXPECT_GT(mark.ns, 0U) << "it marks the end, however it opened";
  EXPECT_TRUE(expired == 0 || expired == ticket);
  return expired == ticket;
}

TEST(DeviceGate, OpensWhenTheFlagReachesTheTicket) {
  for (const unsigned flag : {7U, 8U, 1000U}) {
    EXPECT_FALSE(expires(flag, 7));
  }
}

TEST(DeviceGate, TicketsMayWrapAround) { EXPECT_FALSE(expires(2, 0xfffffffeU)); }

TEST(DeviceGate, OpensByItselfInTheEndAndSaysSo) { EXPECT_TRUE(expires(6, 7)); }

// Each reading of a clock advances the time by a step, so cycles and time may differ by one step.
TEST(ClockSpan, IsSinceTheMarkOnTheSameSm) {
  ClockMark mark{3 * kHostClockStepNs, kHostClockStepNs, 2, 0};
  ClockSpan span{};
  host_kernels_fp16_d64().clock_span({&mark, &span}, 4);
  EXPECT_EQ(mark.taken_up, 1U);
  EXPECT_NEAR(static_cast<double>(span.cycles), 3.0 * static_cast<double>(span.ns),
              3.0 * kHostClockStepNs);
}

TEST(ClockSpan, IsNotKnownWhereNoBlockRanOnThatSm) {
  ClockMark mark{1, 1, 9, 0};
  ClockSpan span{};
  host_kernels_fp16_d64().clock_span({&mark, &span}, 4);
  EXPECT_EQ(span.ns, 0U);
}

TEST(ClockSpan, IsWrittenOnce) {
  ClockMark mark{1, 1, 1, 1};
  ClockSpan span{};
  host_kernels_fp16_d64().clock_span({&mark, &span}, 4);
  EXPECT_EQ(span.ns, 0U);
}

// The lengths are shorter and longer than what the host's threads read together.
TEST(ReadMemory, ReadsEveryWord) {
  struct alignas(kChunkBytes) Chunk {
    std::array<unsigned, kChunkBytes / 4> words;
  };
  for (const std::size_t length : {1U, 95U, 96U, 200U}) {
    std::vector<Chunk> chunks(length);
    unsigned expected = 5;
    unsigned next = 0;
    for (Chunk& chunk : chunks) {
      for (unsigned& word : chunk.words) {
        expected ^= word = next += 0x9e3779b9U;
      }
    }
    unsigned mixed = 5;
    host_kernels_fp16_d64().read_memory({chunks.data(), length, &mixed});
    EXPECT_EQ(mixed, expected) << length;
  }
}

}  // namespace
}  // namespace fatune
