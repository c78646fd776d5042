// Tests right kernels, and kernels with one fault each: each must get the right outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "gpu/gpu_test.hpp"
#include "measure/gpu_measurer.hpp"
#include "model/problem.hpp"
#include "model/statistics.hpp"
#include "unit/measure/measure_alone.hpp"
#include "unit/model/standard_arguments.hpp"

namespace fatune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A thread per output element, a block per row: slow, simple and right, except for one fault.
constexpr const char* kNaiveAttention = R"(
#include "common/attention_args.h"
#include "common/ptx_convert.cuh"

enum Fault { kNone, kWrongValue, kForgottenScale, kNan, kUnwrittenRow, kBehindOutput, kBeforeOutput,
             kReadsPastEnd, kNoMaximum, kSwappedHeads, kOverQueries, kOverValuesLate,
             kIllegalAddress };

extern "C" __global__ void naive(AttentionForwardArgs args) {
  constexpr Fault kFault = FAULT;
  constexpr bool kIsBf16 = IS_BF16;
  const int d = blockDim.x, dim = threadIdx.x, row = blockIdx.x, head = blockIdx.y;
  const long long stride = (long long)args.heads * d;
  const long long base = (long long)blockIdx.z * args.seq_len * stride + head * d;
  const auto* q = (const unsigned short*)args.q + base + row * stride;
  const auto* k = (const unsigned short*)args.k + base;
  const auto* v = (const unsigned short*)args.v + base;
  auto* o = (unsigned short*)args.o + base + row * stride;
  const float scale = kFault == kForgottenScale ? 1.0f : args.softmax_scale;
  int keys = CAUSAL ? row + 1 : args.seq_len;
  float greatest = __int_as_float(0xff800000), sum = 0.0f, out = 0.0f;
  for (int key = 0; key < keys; ++key) {
    float score = 0.0f;
    for (int i = 0; i < d; ++i) {
      score += cvt_f32<kIsBf16>(q[i]) * cvt_f32<kIsBf16>(k[key * stride + i]);
    }
    score *= scale;
    const float next = kFault == kNoMaximum ? 0.0f : fmaxf(greatest, score);
    const float keep = kFault == kNoMaximum ? 1.0f : expf(greatest - next);
    // Probabilities in 16 bits, as on tensor cores.
    const float p = cvt_f32<kIsBf16>(cvt_rn<kIsBf16>(expf(score - next)));
    sum = sum * keep + p;
    out = out * keep + p * cvt_f32<kIsBf16>(v[key * stride + dim]);
    greatest = next;
  }
  if (kFault == kReadsPastEnd) {
    out += 0.0f * cvt_f32<kIsBf16>(v[args.seq_len * stride + dim]);
  }
  const bool here = row == args.seq_len / 2 && head == args.heads - 1 && blockIdx.z == 0;
  unsigned short element = cvt_rn<kIsBf16>(out / sum);
  if (kFault == kWrongValue && here && dim == d - 1) {
    element = cvt_rn<kIsBf16>(out / sum + 0.25f);
  }
  if (kFault == kNan && here && dim == 0) {
    element = 0x7fff;
  }
  if (kFault == kSwappedHeads && args.heads > 1) {
    o += head % 2 == 0 && head + 1 < args.heads ? d : head % 2 == 1 ? -d : 0;
  }
  if (kFault != kUnwrittenRow || !here) {
    o[dim] = element;
  }
  const bool last = row == args.seq_len - 1 && head == args.heads - 1 && blockIdx.z == args.batch - 1;
  if (kFault == kBehindOutput && last) {
    o[d + dim] = element;
  }
  if (kFault == kBeforeOutput && row == 0 && head == 0 && blockIdx.z == 0) {
    o[dim - d] = element;
  }
  // Overwrites the query row that only this block reads, after reading it.
  if (kFault == kOverQueries && here) {
    __syncthreads();
    ((unsigned short*)args.q)[base + row * stride + dim] = 0;
  }
  // Flips one bit of V. No output that is compared shows it.
  if (kFault == kOverValuesLate && last && dim == 0) {
    ((unsigned short*)args.v)[base + row * stride] ^= 1;
  }
  if (kFault == kIllegalAddress && here) {
    *(volatile int*)16 = 1;
  }
}
)";

class Measuring : public GpuTest {
 protected:
  [[nodiscard]] CandidateKernel naive(const Problem& problem, const std::string& fault) const {
    auto artifact = std::make_shared<const Artifact>(
        compile_test_kernel(kNaiveAttention, "naive", arch(),
                            {{"FAULT", fault},
                             {"IS_BF16", problem.dtype == DType::bf16 ? "true" : "false"},
                             {"CAUSAL", problem.causal ? "true" : "false"}}));
    return {fault, std::move(artifact), naive_geometry(problem),
            naive_geometry(probe_problem(problem))};
  }

  [[nodiscard]] static LaunchGeometry naive_geometry(const Problem& problem) {
    LaunchGeometry geometry{
        {problem.seq_len, problem.heads, problem.batch}, {problem.d_head, 1, 1}, 0};
    geometry.arguments = attention_forward_arguments(problem);
    return geometry;
  }

  [[nodiscard]] Outcome measure(const Problem& problem, const CandidateKernel& candidate) const {
    MeasurePolicy policy;
    policy.warmup = 2;
    policy.repeats = 8;
    policy.seed = 7;
    GpuMeasurer measurer(context(), limits(), policy);
    measurer.begin_problem(problem, measurement_kernels(problem, arch()));
    Outcome outcome = measure_alone(measurer, candidate);
    EXPECT_FALSE(measurer.context_lost());
    return outcome;
  }

  void expect_wrong(const std::string& fault, const std::string& finding,
                    const Problem& problem = kProblem) const {
    const Outcome outcome = measure(problem, naive(problem, fault));
    EXPECT_EQ(outcome_name(outcome), "wrong_result") << fault;
    EXPECT_THAT(outcome_summary(outcome), HasSubstr(finding)) << fault;
  }

  static inline const Problem kProblem{2, 77, 3, 64, DType::fp16, false};
};

std::string figures(const Outcome& outcome) {
  std::string text = fmt::format("{}: {}\n", outcome_name(outcome), outcome_summary(outcome));
  const auto* measured = std::get_if<Measured>(&outcome);
  const auto* wrong = std::get_if<WrongResult>(&outcome);
  const Verification* verification = measured != nullptr ? &measured->verification
                                     : wrong != nullptr  ? &wrong->verification
                                                         : nullptr;
  if (verification != nullptr) {
    for (const ErrorStats& stats : verification->inputs) {
      text += fmt::format(
          "  {}: error {:.3g}, 16-bit reference {:.3g}, limit {:.3g}, {} of {} "
          "mismatched, {} not finite, {} guard bytes\n",
          stats.input, stats.max_abs_error, stats.max_abs_reference_error, stats.limit,
          stats.mismatched, stats.elements, stats.not_finite, stats.guard_bytes_changed);
    }
  }
  return text;
}

class RightKernel : public Measuring, public ::testing::WithParamInterface<Problem> {};

TEST_P(RightKernel, IsMeasured) {
  const Outcome outcome = measure(GetParam(), naive(GetParam(), "kNone"));
  const auto* measured = std::get_if<Measured>(&outcome);
  ASSERT_NE(measured, nullptr) << figures(outcome);
  EXPECT_EQ(measured->timing.samples_us.size(), 8U);
  EXPECT_GT(measured->timing.min_us, 0.0);
  EXPECT_LE(measured->timing.min_us, measured->timing.median_us);
  EXPECT_LE(measured->timing.median_us, measured->timing.max_us);
  EXPECT_EQ(measured->timing.stopped_because, "fixed count") << "the gate must work on a GPU";
}

std::string problem_name(const ::testing::TestParamInfo<Problem>& tested) {
  std::string name = describe(tested.param);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, RightKernel,
                         ::testing::Values(Problem{1, 1, 1, 64, DType::fp16, false},
                                           Problem{2, 1, 2, 128, DType::bf16, true},
                                           Problem{1, 2, 1, 64, DType::bf16, false},
                                           Problem{1, 63, 2, 64, DType::fp16, true},
                                           Problem{2, 333, 2, 128, DType::fp16, false},
                                           Problem{2, 333, 2, 128, DType::bf16, true},
                                           Problem{1, 1000, 4, 64, DType::bf16, false},
                                           Problem{16, 512, 16, 64, DType::fp16,
                                                   false}),  // rows are sampled
                         problem_name);

TEST_F(Measuring, OneWrongValueIsFound) { expect_wrong("kWrongValue", "greatest error"); }

TEST_F(Measuring, AForgottenScaleIsFound) { expect_wrong("kForgottenScale", "greatest error"); }

TEST_F(Measuring, SwappedHeadsAreFound) { expect_wrong("kSwappedHeads", "greatest error"); }

TEST_F(Measuring, OneNanIsFound) { expect_wrong("kNan", "1 output values are NaN"); }

TEST_F(Measuring, AnUnwrittenRowIsFound) {
  expect_wrong("kUnwrittenRow", "64 output values are NaN, infinite or were never written");
}

TEST_F(Measuring, AWriteBehindTheOutputIsFound) {
  expect_wrong("kBehindOutput", "bytes outside the output tensor");
}

TEST_F(Measuring, AWriteBeforeTheOutputIsFound) {
  expect_wrong("kBeforeOutput", "bytes outside the output tensor");
}

TEST_F(Measuring, AWriteOverTheQueriesIsFound) {
  expect_wrong("kOverQueries", "wrote into its inputs");
}

TEST_F(Measuring, OneBitOfTheValuesIsFound) {
  expect_wrong("kOverValuesLate", "wrote into its inputs");
}

TEST_F(Measuring, TheRunThatIsVerifiedIsASample) {
  GpuMeasurer measurer(context(), limits(), {});
  const Problem problem{4, 512, 8, 64, DType::fp16, false};
  measurer.begin_problem(problem, measurement_kernels(problem, arch()));
  const Admission admission = measurer.admit({1}, naive(problem, "kNone"));
  ASSERT_FALSE(admission.failure) << figures(*admission.failure);
  const Samples samples = measurer.sample({1}, 21);
  ASSERT_FALSE(samples.failure);
  const double median_us = summarise(samples.samples_us, 0.95).median_us;
  EXPECT_NEAR(admission.first_us, median_us, 0.3 * median_us);
}

// Poison follows V: even with weight 0 it makes NaN.
TEST_F(Measuring, AReadPastTheEndIsFound) { expect_wrong("kReadsPastEnd", "NaN"); }

// Without the running maximum, exp exceeds fp16's range at a score of 11. Only large logits reveal
// it.
TEST_F(Measuring, AMissingMaximumIsFoundByLargeLogits) {
  expect_wrong("kNoMaximum", "input large_logits");
}

// One row in 131072 is missing. The scan of the whole output finds it even if it is not compared.
TEST_F(Measuring, AnUnwrittenRowIsFoundAlsoWhereRowsAreSampled) {
  expect_wrong("kUnwrittenRow", "64 output values", {16, 512, 16, 64, DType::fp16, false});
}

TEST_F(Measuring, TooMuchSharedMemoryIsUnlaunchable) {
  CandidateKernel candidate = naive(kProblem, "kNone");
  candidate.geometry.dynamic_smem_bytes = 300'000;
  const Outcome outcome = measure(kProblem, candidate);
  EXPECT_EQ(outcome_name(outcome), "unlaunchable") << figures(outcome);
  EXPECT_THAT(outcome_summary(outcome), HasSubstr("300000"));
}

TEST_F(Measuring, TheSameSeedGivesTheSameFigures) {
  const Outcome first = measure(kProblem, naive(kProblem, "kNone"));
  const Outcome second = measure(kProblem, naive(kProblem, "kNone"));
  const auto* a = std::get_if<Measured>(&first);
  const auto* b = std::get_if<Measured>(&second);
  ASSERT_TRUE(a != nullptr && b != nullptr) << figures(first) << figures(second);
  for (std::size_t i = 0; i < a->verification.inputs.size(); ++i) {
    EXPECT_EQ(a->verification.inputs[i].max_abs_error, b->verification.inputs[i].max_abs_error);
    EXPECT_EQ(a->verification.inputs[i].mismatched, b->verification.inputs[i].mismatched);
  }
}

// The crash kills the context, so it happens in a separate process.
class CrashDeathTest : public Measuring {
 protected:
  [[noreturn]] void crash_and_exit() const {
    MeasurePolicy policy;
    GpuMeasurer measurer(context(), limits(), policy);
    measurer.begin_problem(kProblem, measurement_kernels(kProblem, arch()));
    const Outcome outcome = measure_alone(measurer, naive(kProblem, "kIllegalAddress"));
    std::cerr << figures(outcome);
    std::_Exit(std::holds_alternative<Crashed>(outcome) && measurer.context_lost() ? 0 : 1);
  }
};

TEST_F(CrashDeathTest, AnIllegalAddressIsACrashAndTheContextIsLost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash_and_exit(), ::testing::ExitedWithCode(0),
              AllOf(HasSubstr("crashed"), HasSubstr("CUDA_ERROR")));
}

}  // namespace
}  // namespace fatune
