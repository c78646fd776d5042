#include "proof/emulated_inputs.hpp"

#include <cstring>

#include <gmock/gmock.h>

namespace fatune {
namespace {

const KernelBuffer kLse{"lse", 24, 0, "never", "lse", "float32", {1, 2, 3}};
const KernelBuffer kUnknown{"extra", 12, 0, "never", "unchecked", "float16", {6}};
const EmulatedProblem kBothHeads{{1, 3, 2, 64, DType::fp16, false}, std::nullopt};

RowReference reference(std::size_t rows) {
  RowReference reference{{}, 0.01};
  for (std::size_t i = 0; i < rows; ++i) {
    reference.rows.push_back({static_cast<double>(i), 0.5});
  }
  return reference;
}

FurtherOutput with_values(const std::vector<float>& values) {
  emulate::Allocation left = poisoned_output(kLse);
  std::memcpy(left.bytes.data(), values.data(), values.size() * sizeof(float));
  return further_output(kLse, left);
}

TEST(FurtherOutputs, AreNamedAndShapedForFindings) {
  const emulate::Allocation memory = poisoned_output(kUnknown);
  EXPECT_EQ(memory.name, "extra");
  EXPECT_EQ(memory.bytes.size(), 12U);
  EXPECT_EQ(memory.element_bytes, 2);
  EXPECT_EQ(further_output(kUnknown, memory).elements(), 6);
}

TEST(FurtherOutputs, RowValuesAreCompared) {
  const RowReference right = reference(6);
  ErrorStats stats = compare_further("normal", kBothHeads,
                                     with_values({0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F}), &right);
  EXPECT_EQ(stats.input, "normal");
  EXPECT_EQ(stats.output, "lse");
  EXPECT_EQ(stats.elements, 6);
  EXPECT_EQ(stats.mismatched, 0);
  stats = compare_further("normal", kBothHeads, with_values({0.5F, 1.5F, 2.5F, 3.5F}), &right);
  EXPECT_EQ(stats.not_finite, 2) << "never written";
}

TEST(FurtherOutputs, OneHeadAloneIsComparedWhereItStands) {
  const RowReference right = reference(3);
  const EmulatedProblem last{kBothHeads.problem, 1};
  const ErrorStats stats =
      compare_further("normal", last, with_values({9.0F, 9.0F, 9.0F, 0.5F, 1.5F, 2.5F}), &right);
  EXPECT_EQ(stats.elements, 3);
  EXPECT_EQ(stats.mismatched, 0);
}

TEST(FurtherOutputs, WhatNobodyKnowsHasToBeWritten) {
  emulate::Allocation memory = poisoned_output(kUnknown);
  EXPECT_EQ(
      compare_further("normal", kBothHeads, further_output(kUnknown, memory), nullptr).not_finite,
      6);
  memory.bytes[3] = 0;
  EXPECT_EQ(
      compare_further("normal", kBothHeads, further_output(kUnknown, memory), nullptr).not_finite,
      0);
}

TEST(FurtherOutputs, DifferencesAreCountedInElements) {
  const FurtherOutput a = with_values({1.0F, 2.0F, 3.0F});
  const FurtherOutput b = with_values({1.0F, 2.5F, -3.0F});
  EXPECT_EQ(count_different(a, b), 2);
}

}  // namespace
}  // namespace fatune
