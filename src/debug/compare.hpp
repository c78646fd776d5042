#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/head_inputs.hpp"
#include "attention/head_problem.hpp"
#include "debug/step_values.hpp"

namespace fatune {

/// A value of the kernel that is not what it should be.
struct WrongValue {
  std::int64_t row = 0;     ///< of the query, in the sequence
  std::int64_t column = 0;  ///< S and P: the key; O and output: the dimension; M and L: 0
  double kernel = 0.0;
  double float64 = 0.0;  ///< M: the nearest value that is allowed
  double sixteen_bit = 0.0;
  double error = 0.0;  ///< beyond the limit, or not a number
};

/// One tensor of one block's step.
struct StepCheck {
  std::int64_t q_block = 0;
  std::optional<std::int64_t> step;     ///< absent: the output
  std::optional<std::int64_t> kv_tile;  ///< which tile of keys that step took
  StepTensor tensor = StepTensor::s;
  std::optional<double> max_error;  ///< of the kernel; absent: none was run, or it shows no such
  double emulated_error = 0.0;      ///< the greatest of the emulated 16-bit algorithm
  double limit = 0.0;
  std::int64_t values = 0;  ///< compared
  std::int64_t wrong = 0;
  std::optional<WrongValue> first_wrong;  ///< by row, then by column
};

/// The values that a kernel has written: StepValues of which only the output, or all, are its own.
struct KernelValues {
  StepValues values;
  bool has_steps = false;
};

/// The algorithm's values, and how the kernel's differ.
struct Comparison {
  StepValues float64;
  StepValues sixteen_bit;
  std::vector<StepCheck> checks;  ///< by block, step and order of computation; outputs last
};

/// Computes the algorithm on the CPU and compares. A kernel's M may lag behind the greatest score
/// (BlockTiles::reference_slack_log2), and P, L and O are relative to it: M is judged by itself
/// (between the greatest score less the slack and the greatest score, never falling), and the
/// others are compared with an algorithm that takes the kernel's M.
[[nodiscard]] Comparison compare_steps(const HeadProblem& head, const HeadInputs& inputs,
                                       const std::optional<KernelValues>& kernel);

/// The first that is wrong: earliest step, then order of computation, then block. Null: none.
[[nodiscard]] const StepCheck* first_wrong(const std::vector<StepCheck>& checks);

}  // namespace fatune
