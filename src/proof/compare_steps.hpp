#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/head_problem.hpp"
#include "model/input_kind.hpp"
#include "proof/blockwise.hpp"

namespace fatune {

/// A wrong value that the kernel wrote.
struct WrongValue {
  std::int64_t row = 0;     ///< the query, counted from the first
  std::int64_t column = 0;  ///< S and P: the key; O and output: the dimension; M and L: 0
  double kernel = 0.0;
  double float64 = 0.0;  ///< M: the allowed value nearest to the kernel's
  double sixteen_bit = 0.0;
  double error = 0.0;  ///< exceeds the limit, or is NaN
};

/// The check of one tensor in one step of one block of query rows.
struct StepCheck {
  std::int64_t q_block = 0;
  std::optional<std::int64_t> step;     ///< absent: the output
  std::optional<std::int64_t> kv_tile;  ///< the tile of keys of this step
  StepTensor tensor = StepTensor::s;
  std::optional<double> max_error;  ///< the kernel's; absent: none ran, or it shows no steps
  double emulated_error = 0.0;      ///< greatest of the emulated 16-bit algorithm
  double limit = 0.0;
  std::int64_t values = 0;  ///< number compared
  std::int64_t wrong = 0;
  std::optional<WrongValue> first_wrong;  ///< the first by row, then by column
};

/// The values that a kernel wrote. Without `has_steps` all but the output are NaN.
struct KernelValues {
  StepValues values;
  bool has_steps = false;
};

/// The values of the algorithm, and their comparison with the kernel's.
struct Comparison {
  StepValues float64;
  StepValues sixteen_bit;
  std::vector<StepCheck> checks;  ///< ordered by block, step and StepTensor; outputs last
};

/// Computes the algorithm on the CPU and compares. A kernel's M may lag behind the greatest score
/// (BlockTiles::reference_slack_log2), and P, L and O are relative to it. M is therefore checked by
/// itself: it must lie between the greatest score minus the slack and the greatest score of its
/// part, and never fall within it. P, L and O are compared with an algorithm that uses the kernel's
/// M.
[[nodiscard]] Comparison compare_steps(const HeadProblem& head, const HeadInputs& inputs,
                                       const std::optional<KernelValues>& kernel);

/// Returns the first wrong check, in order of step, then StepTensor, then block. Returns null if
/// none is wrong.
[[nodiscard]] const StepCheck* first_wrong(const std::vector<StepCheck>& checks);

/// Converts the values that a kernel wrote. NaN stays NaN, including elements that were never
/// written. shape: output: [seq_len, d_head] elements; dump: S, P, M, L, O one after the other, as
///        kernels/common/attention_dump.h lays them out; empty for a kernel that shows none
[[nodiscard]] KernelValues read_kernel_values(const HeadProblem& head,
                                              std::span<const std::uint16_t> output,
                                              std::span<const float> dump);

/// Returns one sentence that names the part of the kernel to look at: what usually makes `first`
/// the first wrong check. It is a guess from the surrounding values, not a proof. Returns nothing
/// if no value hints at a part: the kernel shows only its output. Precondition: first.wrong > 0.
[[nodiscard]] std::string likely_cause(const HeadProblem& head, const HeadInputs& inputs,
                                       const StepValues& kernel, const Comparison& comparison,
                                       const StepCheck& first);

}  // namespace fatune
