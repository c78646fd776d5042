#include "proof/compare_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "model/cpu_reference.hpp"
#include "unit/proof/simulated_kernel.hpp"

namespace fatune {
namespace {

using fixtures::Fault;
using fixtures::simulate_kernel;

// Two blocks of 32 queries, tiles of 16 keys.
HeadProblem small_head(bool causal = false, double slack = 0.0, DType dtype = DType::fp16) {
  return {64, 64, dtype, causal, {32, 16, StepOrder::last_to_first, slack}};
}

// Two blocks of 8 queries and a ragged one against 100 keys: parts of 48, 48 and 4.
HeadProblem decoding_head(bool causal = false, double slack = 0.0, DType dtype = DType::fp16) {
  return {20, 64, dtype, causal, {8, 16, StepOrder::first_to_last, slack, 3}, 100};
}

struct Compared {
  HeadInputs inputs;
  Comparison comparison;
};

Compared compare(const HeadProblem& head, InputKind kind, Fault fault = Fault::none) {
  const HeadInputs inputs = make_head_inputs(head, kind, 3);
  return {inputs, compare_steps(head, inputs, simulate_kernel(head, inputs, fault))};
}

std::string describe(const StepCheck* check) {
  return check == nullptr
             ? "nothing"
             : fmt::format("{} of block {} at step {}: row {} column {}, error {} of {}",
                           enum_name(check->tensor), check->q_block, check->step.value_or(-1),
                           check->first_wrong->row, check->first_wrong->column,
                           check->first_wrong->error, check->limit);
}

TEST(CompareSteps, ARightKernelIsRight) {
  for (const InputKindText& init : kInputKindTexts) {
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      for (const double slack : {0.0, 8.0}) {
        for (const bool causal : {false, true}) {
          HeadProblem head = small_head(causal, slack, dtype);
          head.seq_len = head.seq_len_kv = causal ? 77 : 64;
          const Comparison comparison = compare(head, init.kind).comparison;
          EXPECT_EQ(describe(first_wrong(comparison.checks)), "nothing")
              << init.name << ' ' << dtype_name(dtype) << " slack " << slack;
        }
      }
    }
  }
}

TEST(CompareSteps, ARightKernelThatCombinesPartsIsRight) {
  for (const InputKindText& init : kInputKindTexts) {
    for (const double slack : {0.0, 8.0}) {
      for (const bool causal : {false, true}) {
        const HeadProblem head = decoding_head(causal, slack, DType::bf16);
        const Comparison comparison = compare(head, init.kind).comparison;
        EXPECT_EQ(describe(first_wrong(comparison.checks)), "nothing")
            << init.name << " slack " << slack << " causal " << causal;
      }
    }
  }
}

TEST(CompareSteps, AWrongCombinationOfPartsIsInTheOutputAlone) {
  for (const Fault fault : {Fault::left_out_part, Fault::parts_added_alike}) {
    const Comparison comparison = compare(decoding_head(), InputKind::normal, fault).comparison;
    const StepCheck* const first = first_wrong(comparison.checks);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->tensor, StepTensor::output) << describe(first);
    EXPECT_EQ(first->q_block, 0);
  }
}

TEST(CompareSteps, MOfAPartIsItsOwn) {
  const HeadProblem head = decoding_head();
  const HeadInputs inputs = make_head_inputs(head, InputKind::range, 3);
  KernelValues kernel = simulate_kernel(head, inputs);
  const double before = kernel.values.m[row_index(head, 2, 0)];
  double& first_of_part = kernel.values.m[row_index(head, 3, 0)];
  ASSERT_LT(first_of_part, before) << "the greatest scores are the first keys'";
  first_of_part = before;
  const Comparison comparison = compare_steps(head, inputs, kernel);
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::m) << describe(first);
  EXPECT_EQ(first->step, 3);
}

TEST(CompareSteps, HasEveryTensorOfEveryStepOnce) {
  const HeadProblem head = small_head(true);
  const Comparison comparison = compare(head, InputKind::normal).comparison;
  EXPECT_EQ(comparison.checks.size(), 5U * (2 + 4) + 2);
  EXPECT_EQ(comparison.checks.front().kv_tile, 1) << "the first block sees keys 0 to 31";
  EXPECT_EQ(comparison.checks.back().tensor, StepTensor::output);
  EXPECT_FALSE(comparison.checks.back().step);
  for (const StepCheck& check : comparison.checks) {
    EXPECT_GT(check.values, 0);
    EXPECT_TRUE(check.max_error);
    EXPECT_LE(check.emulated_error, check.limit);
  }
}

TEST(CompareSteps, AWrongMaskIsTheFirstKeyThatItLetsThrough) {
  const Comparison comparison =
      compare(small_head(true), InputKind::normal, Fault::mask_off_by_one).comparison;
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::s);
  EXPECT_EQ(first->step, 0);
  EXPECT_EQ(first->q_block, 0);
  EXPECT_EQ(first->first_wrong->row, 15) << "the first query whose next key is in the tile";
  EXPECT_EQ(first->first_wrong->column, 16);
  EXPECT_EQ(first->wrong, 16) << "queries 15 to 30; key 32 is past the block";
}

// Returns the first step after step 0 in which some row's maximum exceeds that of the step before
// by more than `slack`. Returns -1 if there is none.
std::int64_t first_rise(const HeadProblem& head, const StepValues& values, double slack) {
  for (std::int64_t step = 1; step < head.kv_tiles(); ++step) {
    for (std::int64_t row = 0; row < head.seq_len; ++row) {
      const double before = values.m[row_index(head, head.tile_of(0, step - 1), row)];
      if (values.m[row_index(head, head.tile_of(0, step), row)] > before + slack) {
        return step;
      }
    }
  }
  return -1;
}

TEST(CompareSteps, AMissingRescaleIsNamedWhereTheMaximumRises) {
  for (const double slack : {0.0, 8.0}) {
    const HeadProblem head = small_head(false, slack);
    for (const auto& [fault, tensor] : {std::pair{Fault::no_rescale, StepTensor::l},
                                        std::pair{Fault::no_output_rescale, StepTensor::o}}) {
      const Comparison comparison = compare(head, InputKind::range, fault).comparison;
      const StepCheck* const first = first_wrong(comparison.checks);
      ASSERT_NE(first, nullptr) << "slack " << slack;
      EXPECT_EQ(first->tensor, tensor) << describe(first);
      EXPECT_EQ(first->step, first_rise(head, comparison.float64, 0.0)) << describe(first);
    }
  }
}

TEST(CompareSteps, RandomScoresNeverOutgrowAWideSlack) {
  const HeadProblem head = small_head(false, 8.0);
  EXPECT_EQ(first_rise(head, compare(head, InputKind::normal).comparison.float64, 0.0), -1)
      << "which is why large_logits exists";
  EXPECT_GT(first_rise(head, compare(head, InputKind::large_logits).comparison.float64, 0.0), 0);
}

TEST(CompareSteps, SwappedPanelsOfVAreTheFirstStepsOutput) {
  for (const InputKind kind : {InputKind::normal, InputKind::range, InputKind::identity}) {
    const Comparison comparison = compare(small_head(), kind, Fault::swapped_v).comparison;
    const StepCheck* const first = first_wrong(comparison.checks);
    ASSERT_NE(first, nullptr) << input_kind_name(kind);
    EXPECT_EQ(first->tensor, StepTensor::o) << describe(first);
    EXPECT_EQ(first->step, 0);
  }
}

TEST(CompareSteps, OfExponentsTheLastStepOnlyIsWrong) {
  const Comparison comparison =
      compare(small_head(), InputKind::normal, Fault::no_exponent_base).comparison;
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::p) << describe(first);
  EXPECT_EQ(first->step, 3);
}

TEST(CompareSteps, MIsJudgedByItself) {
  const Comparison comparison =
      compare(small_head(), InputKind::normal, Fault::m_too_high).comparison;
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::m) << describe(first);
  EXPECT_NEAR(first->first_wrong->error, 1.0, 1e-4);
}

TEST(CompareSteps, MMustNotLagByMoreThanTheSlack) {
  const HeadProblem lazy = small_head(false, 8.0);
  const HeadInputs inputs = make_head_inputs(lazy, InputKind::large_logits, 3);
  const KernelValues kernel = simulate_kernel(lazy, inputs);
  const HeadProblem strict = small_head(false, 2.0);
  const Comparison comparison = compare_steps(strict, inputs, kernel);
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::m) << describe(first);
  EXPECT_LT(first->first_wrong->kernel, first->first_wrong->float64);
}

TEST(CompareSteps, MMustNotFall) {
  const HeadProblem head = small_head(false, 8.0);
  const HeadInputs inputs = make_head_inputs(head, InputKind::normal, 3);
  KernelValues kernel = simulate_kernel(head, inputs);
  kernel.values.m[row_index(head, head.tile_of(1, 2), 40)] -= 0.5;
  const Comparison comparison = compare_steps(head, inputs, kernel);
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::m) << describe(first);
  EXPECT_EQ(first->step, 2);
  EXPECT_EQ(first->q_block, 1);
  EXPECT_EQ(first->first_wrong->row, 40);
}

TEST(CompareSteps, WhatWasNeverWrittenIsWrongThere) {
  const Comparison comparison =
      compare(small_head(), InputKind::normal, Fault::left_out_step).comparison;
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::s);
  EXPECT_EQ(first->step, 1);
  EXPECT_TRUE(std::isnan(first->first_wrong->kernel));
  EXPECT_EQ(first->wrong, first->values);
}

TEST(CompareSteps, WithoutDivisionOnlyTheOutputIsWrong) {
  const Comparison comparison =
      compare(small_head(), InputKind::normal, Fault::no_division).comparison;
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::output);
}

TEST(CompareSteps, OneWrongValueIsFoundAndNamed) {
  const HeadProblem head = small_head();
  const HeadInputs inputs = make_head_inputs(head, InputKind::normal, 3);
  KernelValues kernel = simulate_kernel(head, inputs);
  const std::size_t at = row_index(head, head.tile_of(1, 2), 50) * 64 + 17;
  kernel.values.o[at] += 0.05;
  const Comparison comparison = compare_steps(head, inputs, kernel);
  const StepCheck* const first = first_wrong(comparison.checks);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tensor, StepTensor::o);
  EXPECT_EQ(first->step, 2);
  EXPECT_EQ(first->q_block, 1);
  EXPECT_EQ(first->first_wrong->row, 50);
  EXPECT_EQ(first->first_wrong->column, 17);
  EXPECT_EQ(first->wrong, 1);
}

TEST(CompareSteps, OfAKernelThatShowsNothingTheOutputIsCompared) {
  const HeadProblem head = small_head();
  const HeadInputs inputs = make_head_inputs(head, InputKind::normal, 3);
  KernelValues kernel = simulate_kernel(head, inputs, Fault::swapped_v);
  kernel.has_steps = false;
  const Comparison comparison = compare_steps(head, inputs, kernel);
  EXPECT_FALSE(comparison.checks.front().max_error);
  ASSERT_NE(first_wrong(comparison.checks), nullptr);
  EXPECT_EQ(first_wrong(comparison.checks)->tensor, StepTensor::output);
}

TEST(CompareSteps, WithoutAKernelThereIsNothingWrong) {
  const HeadProblem head = small_head();
  const HeadInputs inputs = make_head_inputs(head, InputKind::normal, 3);
  const Comparison comparison = compare_steps(head, inputs, std::nullopt);
  EXPECT_EQ(first_wrong(comparison.checks), nullptr);
  EXPECT_FALSE(comparison.checks.back().max_error);
  EXPECT_GT(comparison.checks.back().emulated_error, 0.0);
}

TEST(StepWindow, IsWithinItsTensor) {
  const HeadProblem head{100, 64, DType::fp16, true, {32, 16, StepOrder::last_to_first, 0.0}};
  const StepValues values = empty_values(head);
  for (const StepTensor tensor : kStepTensors) {
    const StepWindow window = step_window(head, tensor, 3, 0);
    EXPECT_EQ(window.rows, 4) << "rows that exist";
    EXPECT_EQ(window.first_row, 96);
    EXPECT_LT(window.index(window.rows - 1, window.columns - 1), values.of(tensor).size());
  }
  EXPECT_EQ(step_window(head, StepTensor::s, 3, 0).first_column, 96);
  const StepWindow output = step_window(head, StepTensor::output, 3, 0);
  EXPECT_EQ(output.index(output.rows - 1, output.columns - 1) + 1, values.output.size());
}

// 2 rows, 2 keys, 1 tile.
const HeadProblem kHead{2, 8, DType::bf16, false, {2, 2, StepOrder::first_to_last, 0.0}};
constexpr std::size_t kScores = 4;
constexpr std::size_t kRows = 2;
constexpr std::size_t kOutput = 16;

TEST(KernelValues, TensorsStandOneAfterTheOther) {
  const std::size_t size = 2 * kScores + 2 * kRows + kOutput;
  std::vector<float> dump(size);
  for (std::size_t i = 0; i < size; ++i) {
    dump[i] = static_cast<float>(i);
  }
  dump[1] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::uint16_t> output(kOutput, round_to_element(1.5, DType::bf16));
  const KernelValues kernel = read_kernel_values(kHead, output, dump);
  EXPECT_TRUE(kernel.has_steps);
  EXPECT_EQ(kernel.values.s[0], 0.0);
  EXPECT_TRUE(std::isnan(kernel.values.s[1]));
  EXPECT_EQ(kernel.values.p[0], 4.0);
  EXPECT_EQ(kernel.values.m[0], 8.0);
  EXPECT_EQ(kernel.values.l[0], 10.0);
  EXPECT_EQ(kernel.values.o.back(), 27.0);
  EXPECT_EQ(kernel.values.output.back(), 1.5);
}

TEST(KernelValues, WithoutIntermediatesTheyAreNotNumbers) {
  const std::vector<std::uint16_t> output(kOutput);
  const KernelValues kernel = read_kernel_values(kHead, output, {});
  EXPECT_FALSE(kernel.has_steps);
  EXPECT_TRUE(std::isnan(kernel.values.s[0]));
}

TEST(KernelValues, ThoseOfAnotherHeadAreRefused) {
  const std::vector<std::uint16_t> output(kOutput);
  const std::vector<float> dump(3);
  EXPECT_THROW((void)read_kernel_values(kHead, output, dump), std::logic_error);
}

}  // namespace
}  // namespace fatune
