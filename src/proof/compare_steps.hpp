#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "model/head_problem.hpp"
#include "model/input_kind.hpp"

namespace fatune {

/// The tensors of the block-wise algorithm, in the order in which a step computes them. `output` is
/// O / L, computed once at the end from all parts of the keys.
enum class StepTensor { s, m, p, l, o, output };

inline constexpr std::array kStepTensors{StepTensor::s, StepTensor::m, StepTensor::p, StepTensor::l,
                                         StepTensor::o};

template <>
inline constexpr EnumNames<6> kEnumNames<StepTensor>{"tensor", {"S", "M", "P", "L", "O", "output"}};

/// All intermediates of one head, as kernels/common/attention_dump.h lays them out. A value is NaN
/// where nothing was computed: in tiles that a causal block does not visit, or that a kernel did
/// not write.
struct StepValues {
  std::vector<double> s;       ///< [rows, keys]
  std::vector<double> p;       ///< [rows, keys]
  std::vector<double> m;       ///< [kv_tiles, rows]
  std::vector<double> l;       ///< [kv_tiles, rows]
  std::vector<double> o;       ///< [kv_tiles, rows, d_head_v]
  std::vector<double> output;  ///< [seq_len, d_head_v]

  [[nodiscard]] const std::vector<double>& of(StepTensor tensor) const;
  [[nodiscard]] std::vector<double>& of(StepTensor tensor);
};

/// The extents of a tensor (see StepValues).
[[nodiscard]] std::vector<std::int64_t> tensor_shape(const HeadProblem& head, StepTensor tensor);

/// Returns tensors of the right size, filled with NaN.
[[nodiscard]] StepValues empty_values(const HeadProblem& head);

/// The part of a tensor that one step of one block computes: `rows` rows of `columns` adjacent
/// values. It does not include rows past the end of the sequence.
struct StepWindow {
  std::size_t first = 0;       ///< index of the first value
  std::size_t row_stride = 0;  ///< the distance from one row to the next
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t first_row = 0;     ///< position in the sequence
  std::int64_t first_column = 0;  ///< S and P: the first key; else 0

  [[nodiscard]] std::size_t index(std::int64_t row, std::int64_t column) const {
    return first + static_cast<std::size_t>(row) * row_stride + static_cast<std::size_t>(column);
  }
};

/// Returns the part that a step computes. `step` is ignored for the output.
[[nodiscard]] StepWindow step_window(const HeadProblem& head, StepTensor tensor,
                                     std::int64_t q_block, std::int64_t step);

/// The index of a row's value in M and L.
[[nodiscard]] inline std::size_t row_index(const HeadProblem& head, std::int64_t tile,
                                           std::int64_t row) {
  return static_cast<std::size_t>(tile * head.rows() + row);
}

/// The arithmetic of the algorithm.
enum class Arithmetic {
  float64,
  /// Rounds like a kernel with 16-bit inputs. Products are exact. Sums are fp32 and truncated after
  /// every product (tensor cores truncate too, less often). Softmax is fp32. P is rounded to 16
  /// bits before P V, and O once at the end.
  /// source: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021)
  sixteen_bit,
};

/// Runs the block-wise algorithm and keeps every intermediate. With S the scores of the tile, each
/// step computes:
///
///   M' = max(M, S), or the M of `references`      P = 2^(S - M')     (0 while M' is -infinity)
///   L  = L 2^(M - M') + sum of P                  O = O 2^(M - M') + P V
///
/// Each part of the keys begins with M = -infinity, L = 0 and O = 0. With the M, L and O that the
/// parts end with, the output is the sum of O 2^(M - max M) over that of L 2^(M - max M).
///
/// shape: references: [kv_tiles, rows], the M of each step; empty: M is the greatest score so far
[[nodiscard]] StepValues compute_blockwise(const HeadProblem& head, const HeadInputs& inputs,
                                           Arithmetic arithmetic,
                                           std::span<const double> references = {});

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
/// written. shape: output: [seq_len, d_head_v] elements; dump: S, P, M, L, O one after the other,
/// as
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
