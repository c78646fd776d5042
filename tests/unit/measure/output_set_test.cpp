// Outputs beside O, through the whole measurement: the log-sum-exps of a problem that has them, and
// an output whose values cannot be compared.
#include "measure/tensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "measure/gpu_measurer.hpp"
#include "model/input_kind.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/host_gpu.hpp"
#include "unit/measure/measure_alone.hpp"

namespace fatune {
namespace {

using ::testing::HasSubstr;

Problem problem_with_lse() {
  Problem problem = kHostProblem;
  problem.lse = true;
  return problem;
}

/// The output whose address follows the arguments that every problem has.
float* further_output(const AttentionForwardArgs& args) {
  return *reinterpret_cast<float* const*>(&args + 1);
}

class OutputSetTest : public gpu::FakeDriverTest {
 protected:
  using Write = std::function<void(const std::vector<double>& right, float* lse)>;

  void SetUp() override {
    FakeDriverTest::SetUp();
    gpu_.attach();
    policy_.warmup = 0;
    policy_.repeats = 6;
    policy_.seed = 42;
    writes([](const std::vector<double>& right, float* lse) {
      for (const double value : right) {
        *lse++ = static_cast<float>(value);
      }
    });
  }

  /// Makes the candidate compute attention and then write the log-sum-exps with `write`.
  void writes(Write write) {
    gpu_.candidate = [this, write = std::move(write)](const AttentionForwardArgs& args) {
      gpu_.compute_attention(args);
      write(gpu_.log_sum_exps(args), further_output(args));
    };
  }
  void writes_each(const std::function<double(double right)>& value) {
    writes([value](const std::vector<double>& right, float* lse) {
      for (const double one : right) {
        *lse++ = static_cast<float>(value(one));
      }
    });
  }

  Outcome measure() {
    const gpu::Context context(0);
    GpuMeasurer measurer(context, HostGpu::limits(), policy_);
    measurer.begin_problem(problem_, HostGpu::measurement_kernels());
    return measure_alone(measurer, candidate_);
  }

  void expect_wrong(const std::string& finding) {
    const Outcome outcome = measure();
    EXPECT_EQ(outcome_name(outcome), "wrong_result");
    EXPECT_THAT(outcome_summary(outcome), HasSubstr(finding));
  }

  Problem problem_ = problem_with_lse();
  MeasurePolicy policy_;
  HostGpu gpu_{host_kernels_fp16_d64(), problem_};
  CandidateKernel candidate_ = HostGpu::make_candidate(problem_);
};

TEST_F(OutputSetTest, RightLogSumExpsAreComparedOnEachInput) {
  const Outcome outcome = measure();
  const auto* measured = std::get_if<Measured>(&outcome);
  ASSERT_NE(measured, nullptr) << outcome_summary(outcome);
  int compared = 0;
  for (const ErrorStats& stats : measured->verification.inputs) {
    if (stats.output == "lse") {
      ++compared;
      EXPECT_EQ(stats.elements, output_rows(problem_));
      EXPECT_EQ(stats.mismatched, 0);
      EXPECT_LE(stats.max_abs_error, stats.limit);
      EXPECT_LT(stats.limit, 0.1) << stats.input;
    }
  }
  EXPECT_EQ(compared, std::ssize(input_kinds(problem_)));
  EXPECT_TRUE(measured->verification.deterministic);
}

TEST_F(OutputSetTest, ProblemsWithoutFurtherOutputsPayNothing) {
  problem_.lse = false;
  candidate_ = HostGpu::make_candidate(problem_);
  gpu_.candidate = [this](const AttentionForwardArgs& args) { gpu_.compute_attention(args); };
  EXPECT_EQ(outcome_name(measure()), "measured");
  for (const char* kernel :
       {"fatune_row_statistics", "fatune_greatest_norms", "fatune_check_row_values"}) {
    EXPECT_EQ(gpu_.count(kernel), 0) << kernel;
  }
}

TEST_F(OutputSetTest, RowsWithoutKeysHaveMinusInfinity) {
  problem_.causal = true;
  problem_.seq_len_kv = 13;  // the first seven rows of each head see no key
  candidate_ = HostGpu::make_candidate(problem_);
  HostGpu gpu(host_kernels_fp16_d64(), problem_);
  gpu.attach();
  for (const float first : {-std::numeric_limits<float>::infinity(), 0.0F}) {
    gpu.candidate = [&](const AttentionForwardArgs& args) {
      gpu.compute_attention(args);
      const std::vector<double> right = gpu.log_sum_exps(args);
      std::transform(right.begin(), right.end(), further_output(args),
                     [](double value) { return static_cast<float>(value); });
      further_output(args)[0] = first;
    };
    if (first < 0) {
      EXPECT_EQ(outcome_name(measure()), "measured");
    } else {
      expect_wrong("lse: 1 output values are NaN, infinite");
    }
  }
}

TEST_F(OutputSetTest, TheOtherBaseIsWrong) {
  writes_each([](double right) { return right * std::numbers::log2e; });
  expect_wrong("input large_logits: lse: greatest error");
}

TEST_F(OutputSetTest, MinusInfinityWhereThereAreKeysIsWrong) {
  writes([](const std::vector<double>& right, float* lse) {
    for (const double value : right) {
      *lse++ = static_cast<float>(value);
    }
    lse[-3] = -std::numeric_limits<float>::infinity();
  });
  expect_wrong("lse: 1 output values are NaN, infinite or were never written");
}

TEST_F(OutputSetTest, WhatIsNeverWrittenIsFound) {
  writes([](const std::vector<double>&, float*) {});
  expect_wrong("lse: 40 output values are NaN, infinite or were never written");
}

TEST_F(OutputSetTest, WritesOutsideAreFound) {
  for (const std::int64_t at : {std::int64_t{-1}, output_rows(problem_)}) {
    writes([at](const std::vector<double>& right, float* lse) {
      for (std::size_t i = 0; i < right.size(); ++i) {
        lse[i] = static_cast<float>(right[i]);
      }
      lse[at] = 1.0F;
    });
    expect_wrong("lse: wrote 4 bytes outside the output tensor");
  }
}

TEST_F(OutputSetTest, WhatIsWrongLaterIsFoundBySampling) {
  int launches = 0;
  policy_.repeats = 16;
  writes([&launches](const std::vector<double>& right, float* lse) {
    ++launches;
    for (const double value : right) {
      *lse++ = static_cast<float>(launches > 12 ? 0.0 : value);
    }
  });
  expect_wrong("its output differs from the verified one of the same inputs: input normal: lse:");
}

TEST_F(OutputSetTest, OtherLastBitsAreNotDeterministic) {
  double more = 0.0;
  writes_each([&more](double right) { return right + (more += 1e-7); });
  const Outcome outcome = measure();
  ASSERT_EQ(outcome_name(outcome), "measured") << outcome_summary(outcome);
  EXPECT_FALSE(std::get<Measured>(outcome).verification.deterministic);
}

/// The same arguments, but with an output of an unknown kind.
class UncheckedOutputTest : public OutputSetTest {
 protected:
  void SetUp() override {
    OutputSetTest::SetUp();
    for (LaunchGeometry* geometry : {&candidate_.geometry, &candidate_.probe_geometry}) {
      geometry->arguments.buffers.at(0).output = "unchecked";
    }
  }
};

TEST_F(UncheckedOutputTest, ItsValuesAreNotCompared) {
  writes_each([](double) { return 7.0; });
  const Outcome outcome = measure();
  ASSERT_EQ(outcome_name(outcome), "measured") << outcome_summary(outcome);
  EXPECT_EQ(gpu_.count("fatune_row_statistics"), 0);
}

TEST_F(UncheckedOutputTest, ItHasToBeWritten) {
  writes([](const std::vector<double>&, float*) {});
  expect_wrong("lse: 40 output values are NaN, infinite or were never written");
}

TEST_F(UncheckedOutputTest, ItIsGuarded) {
  writes([](const std::vector<double>&, float* lse) { lse[0] = lse[40] = 1.0F; });
  expect_wrong("lse: wrote 4 bytes outside");
}

}  // namespace
}  // namespace fatune
