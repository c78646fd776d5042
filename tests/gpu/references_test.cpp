// Compares the reference kernels on the GPU with float64 on the CPU, and tests their inputs.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "gpu/gpu_test.hpp"
#include "measure/measurement_module.hpp"
#include "measure/memory_plan.hpp"
#include "measure/verification.hpp"
#include "model/cpu_reference.hpp"
#include "model/error_rule.hpp"
#include "model/problem.hpp"
#include "model/row_sample.hpp"

namespace fatune {
namespace {

struct Case {
  Problem problem;
  InputKind kind = InputKind::normal;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << describe(c.problem) << ' ' << input_kind_name(c.kind);
}

std::string case_name(const ::testing::TestParamInfo<Case>& tested) {
  std::string name =
      describe(tested.param.problem) + "_" + std::string(input_kind_name(tested.param.kind));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// Inputs and both references of a problem, computed on the GPU and read back.
class Reference : public GpuTest, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const auto& [problem, kind] = GetParam();
    const gpu::Stream stream;
    const MeasurementModule kernels(measurement_kernels(problem, arch()));
    const Stage stage(problem, kind, kSeed, kernels, stream);
    const Tensors& tensors = stage.tensors();
    const auto values = [&](TensorRole role) {
      const auto elements = static_cast<std::size_t>(tensor_elements(problem, role));
      return element_values(read_back<std::uint16_t>(tensors.at(role), elements, stream),
                            problem.dtype);
    };
    q_ = values(TensorRole::q);
    k_ = values(TensorRole::k);
    v_ = values(TensorRole::v);
    const auto elements = static_cast<std::size_t>(tensor_elements(problem, TensorRole::o));
    const auto exact = reinterpret_cast<gpu::DevicePtr>(stage.references().exact());
    const auto rounded = reinterpret_cast<gpu::DevicePtr>(stage.references().rounded());
    exact_ = read_back<float>(exact, elements, stream);
    rounded_ = element_values(read_back<std::uint16_t>(rounded, elements, stream), problem.dtype);
    truth_ = cpu_attention(problem, q_, k_, v_);
  }

  // The index in O of element i of the references, (batch, heads, seq_len, d_head_v).
  [[nodiscard]] static std::size_t tensor_index(std::size_t i) {
    const TensorShape shape = tensor_shape(GetParam().problem, TensorRole::o);
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t batch_head = index / (shape.rows * shape.columns);
    return static_cast<std::size_t>(shape.row_offset(batch_head / shape.heads,
                                                     index / shape.columns % shape.rows,
                                                     batch_head % shape.heads) +
                                    index % shape.columns);
  }

  static constexpr std::uint64_t kSeed = 20240607;
  std::vector<double> q_, k_, v_, rounded_, truth_;
  std::vector<float> exact_;
};

TEST_P(Reference, Fp32AgreesWithFloat64) {
  double worst = 0.0;
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    const double want = truth_[tensor_index(i)];
    const double error = std::abs(static_cast<double>(exact_[i]) - want);
    ASSERT_LE(error, 5e-5 * (1 + std::abs(want)))
        << "element " << i << ": " << exact_[i] << ", float64 says " << want;
    worst = std::max(worst, error);
  }
  RecordProperty("greatest_error", fmt::format("{:.3g}", worst));
}

// The 16-bit reference must have the error of a 16-bit computation: much larger than the fp32
// one's, and no larger than a few roundings of the scores, probabilities and outputs can explain.
TEST_P(Reference, SixteenBitErrorIsThatOfItsRoundings) {
  const Problem& problem = GetParam().problem;
  double greatest_error = 0.0;
  double greatest_value = 0.0;
  for (std::size_t i = 0; i < rounded_.size(); ++i) {
    greatest_error = std::max(greatest_error, std::abs(rounded_[i] - truth_[tensor_index(i)]));
    greatest_value = std::max(greatest_value, std::abs(truth_[tensor_index(i)]));
  }
  if (problem.seq_len == 1) {
    EXPECT_EQ(greatest_error, 0.0) << "one key: O = V, whatever is rounded";
    return;
  }
  const double unit = unit_in_last_place(greatest_value, problem.dtype);
  if (GetParam().kind != InputKind::dominating_key) {  // O is nearly the value of one key there
    EXPECT_GE(greatest_error, 0.2 * unit);
  }
  const double greatest_logit = GetParam().kind == InputKind::large_logits ? 64.0 : 16.0;
  const double score_unit = unit_in_last_place(greatest_logit, problem.dtype);
  EXPECT_LE(greatest_error, unit + 2 * greatest_value * score_unit);
}

Case shape(std::int64_t batch, std::int64_t seq_len, std::int64_t heads, std::int64_t d_head,
           DType dtype, bool causal, InputKind kind = InputKind::normal) {
  return {{batch, seq_len, heads, d_head, dtype, causal}, kind};
}

Case grouped() {
  Case c = shape(2, 200, 6, 64, DType::bf16, true, InputKind::dominating_key);
  c.problem.kv_heads = 2;
  c.problem.layout = Layout::bhsd;
  return c;
}

Case shifted() {
  Case c = shape(1, 150, 2, 192, DType::fp16, true);
  c.problem.seq_len_kv = 333;
  c.problem.d_head_v = 128;
  return c;
}

Case windowed() {
  Case c = shape(2, 300, 2, 96, DType::fp16, true);
  c.problem.window = 70;
  c.problem.seq_len_kv = 250;
  return c;
}

// Q is far smaller than K and V, which the same launches fill and add up.
Case of_few_queries() {
  Case c = shape(1, 2, 8, 128, DType::bf16, false);
  c.problem.kv_heads = 1;
  c.problem.seq_len_kv = 20'001;
  return c;
}

Case with_lengths() {
  Case c = shape(4, 5, 2, 128, DType::bf16, true, InputKind::dominating_key);
  c.problem.seq_len_kv = 300;
  c.problem.seq_lens_kv = "300,0,1,131";
  return c;
}

Case with_pages() {
  Case c = with_lengths();
  c.problem.page_size = 16;
  return c;
}

// Pages of bhsd, which all sequences fill.
Case with_full_pages() {
  Case c = shape(3, 4, 4, 64, DType::fp16, false);
  c.problem.kv_heads = 2;
  c.problem.seq_len_kv = 512;
  c.problem.page_size = 128;
  c.problem.layout = Layout::bhsd;
  return c;
}

Case packed() {
  Case c = shape(5, 140, 4, 128, DType::fp16, true, InputKind::dominating_key);
  c.problem.kv_heads = 2;
  c.problem.seq_lens = "140,0,1,65,3";
  c.problem.seq_lens_kv = "300,7,1,20,0";
  c.problem.seq_len_kv = 300;
  return c;
}

Case packed_with_pages() {
  Case c = packed();
  c.problem.page_size = 16;
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Reference,
    ::testing::Values(
        shape(1, 1, 2, 64, DType::fp16, false), shape(2, 64, 2, 64, DType::bf16, false),
        shape(1, 128, 2, 128, DType::fp16, true), shape(2, 63, 3, 128, DType::fp16, true),
        shape(2, 333, 2, 128, DType::bf16, false), shape(1, 200, 1, 40, DType::fp16, false),
        shape(1, 130, 2, 256, DType::bf16, true),
        shape(1, 300, 2, 128, DType::fp16, false, InputKind::large_logits),
        shape(1, 300, 2, 64, DType::bf16, true, InputKind::large_logits),
        shape(1, 300, 4, 128, DType::bf16, false, InputKind::dominating_key),
        shape(1, 300, 4, 64, DType::fp16, true, InputKind::dominating_key), grouped(), shifted(),
        windowed(), of_few_queries(), with_lengths(), with_pages(), with_full_pages(), packed(),
        packed_with_pages()),
    case_name);

class Inputs : public GpuTest {
 protected:
  // Q, K and V of a problem, with 2^21 elements each.
  std::vector<std::vector<double>> fill(InputKind kind) {
    const gpu::Stream stream;
    const MeasurementModule kernels(measurement_kernels(kProblem, arch()));
    const Tensors tensors(kProblem);
    const std::int64_t elements = tensor_elements(kProblem, TensorRole::q);
    kernels.fill_inputs({tensors.view(TensorRole::q), tensors.view(TensorRole::k),
                         tensors.view(TensorRole::v), 99, static_cast<int>(kind), 0, nullptr},
                        stream);
    std::vector<std::vector<double>> all;
    for (const gpu::DevicePtr tensor : {tensors.q(), tensors.k(), tensors.v()}) {
      all.push_back(element_values(
          read_back<std::uint16_t>(tensor, static_cast<std::size_t>(elements), stream),
          kProblem.dtype));
    }
    return all;
  }

  static inline const Problem kProblem{2, 2048, 4, 128, DType::fp16, false};
};

double mean_product(const std::vector<double>& a, const std::vector<double>& b, std::size_t lag) {
  double sum = 0.0;
  for (std::size_t i = 0; i + lag < a.size(); ++i) {
    sum += a[i] * b[i + lag];
  }
  return sum / static_cast<double>(a.size() - lag);
}

double share_beyond(const std::vector<double>& values, double limit) {
  const auto beyond = std::count_if(values.begin(), values.end(),
                                    [limit](double x) { return std::abs(x) > limit; });
  return static_cast<double>(beyond) / static_cast<double>(values.size());
}

// 2^21 values: the standard error of a mean of products is 0.0007, and the limits are seven times
// that.
TEST_F(Inputs, NormalInputsAreNormalAndIndependent) {
  const auto tensors = fill(InputKind::normal);
  for (const std::vector<double>& values : tensors) {
    const std::vector<double> ones(values.size(), 1.0);
    EXPECT_NEAR(mean_product(values, ones, 0), 0.0, 0.005);
    EXPECT_NEAR(mean_product(values, values, 0), 1.0, 0.01);
    EXPECT_NEAR(share_beyond(values, 1.0), 0.31731, 0.003);
    EXPECT_NEAR(share_beyond(values, 2.0), 0.04550, 0.001);
    EXPECT_NEAR(share_beyond(values, 4.0), 6.3e-5, 3e-5);
    for (const std::size_t lag : {1U, 2U, 3U, 4U, 64U, 128U, 512U}) {
      EXPECT_NEAR(mean_product(values, values, lag), 0.0, 0.005) << "lag " << lag;
    }
  }
  EXPECT_NEAR(mean_product(tensors[0], tensors[1], 0), 0.0, 0.005) << "Q and K";
  EXPECT_NEAR(mean_product(tensors[1], tensors[2], 0), 0.0, 0.005) << "K and V";
}

TEST_F(Inputs, LargeLogitsComeFromLargerQueriesAlone) {
  const auto tensors = fill(InputKind::large_logits);
  EXPECT_NEAR(mean_product(tensors[0], tensors[0], 0), 49.0, 0.5);
  EXPECT_NEAR(mean_product(tensors[1], tensors[1], 0), 1.0, 0.01);
}

TEST_F(Inputs, DominatingKeysStandOutInK) {
  const auto tensors = fill(InputKind::dominating_key);
  const auto d = static_cast<std::size_t>(kProblem.d_head);
  // All elements of these rows have the same magnitude, 16 / sqrt(d).
  const double magnitude = element_value(
      round_to_element(16 / std::sqrt(static_cast<double>(d)), kProblem.dtype), kProblem.dtype);
  std::int64_t rows = 0;
  for (std::size_t first = 0; first < tensors[1].size(); first += d) {
    rows += static_cast<std::int64_t>(
        std::all_of(tensors[1].begin() + static_cast<std::ptrdiff_t>(first),
                    tensors[1].begin() + static_cast<std::ptrdiff_t>(first + d),
                    [magnitude](double x) { return std::abs(std::abs(x) - magnitude) < 1e-2; }));
  }
  EXPECT_EQ(rows, kProblem.batch * kProblem.heads) << "one in each head";
}

class LongSequence : public GpuTest {};

// The time budget for inputs and references of all kinds at the longest default length.
TEST_F(LongSequence, AProblemBeginsQuickly) {
  const Problem problem{4, 16384, 16, 128, DType::bf16, false};
  if (limits().sm_count < 100 ||
      plan_memory(problem, {}, limits()).total_bytes() > limits().free_memory_bytes) {
    GTEST_SKIP() << limits().name << " is smaller than what the budget is for";
  }
  const gpu::Stream stream;
  const MeasurementModule kernels(measurement_kernels(problem, arch()));
  std::optional<Verifier> verifier(std::in_place, problem, std::nullopt, 1, kernels, stream, false);
  verifier.reset();
  const auto start = std::chrono::steady_clock::now();
  verifier.emplace(problem, std::nullopt, 2, kernels, stream, false);
  const double took_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("begin_ms", fmt::format("{:.1f}", took_ms));
  EXPECT_LT(took_ms, 250.0) << "three sets of normal inputs, four other kinds, "
                            << describe_rows(problem);
}

}  // namespace
}  // namespace fatune
