#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emulator/memory/global_memory.hpp"
#include "model/cpu_reference.hpp"
#include "model/input_kind.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/shared_tensor.hpp"
#include "plan/family.hpp"

namespace fatune {

/// A box of blocks in a grid: `extent` blocks along each axis, from `first` on.
struct BlockBox {
  std::array<std::int64_t, 3> first{0, 0, 0};
  std::array<std::int64_t, 3> extent{1, 1, 1};

  /// `block` is the linear index in the launch's grid, x fastest.
  [[nodiscard]] bool contains(std::int64_t block, const LaunchGeometry& launch) const {
    const auto& grid = launch.grid;
    const std::array<std::int64_t, 3> at{block % grid[0], block / grid[0] % grid[1],
                                         block / grid[0] / grid[1]};
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (at[axis] < first[axis] || at[axis] >= first[axis] + extent[axis]) {
        return false;
      }
    }
    return true;
  }
};

/// A problem and the part of its output that is compared: all of it, or one head if batch is 1.
struct EmulatedProblem {
  Problem problem;
  std::optional<std::int64_t> only_head;

  auto operator<=>(const EmulatedProblem&) const = default;
};

/// Returns the compared part as a problem of its own.
[[nodiscard]] Problem compared_part(const EmulatedProblem& of);

/// Describes a problem for people: "b1 s256 h16 d128 FP16", or "b1 s256 h16 d128 FP16, head 15
/// alone".
[[nodiscard]] std::string describe(const EmulatedProblem& problem);

/// A launch of a kernel on a problem.
struct EmulatedLaunch {
  EmulatedProblem on;
  LaunchGeometry geometry;
  BlockBox blocks;  ///< the blocks to run if only one head is compared; otherwise all run
  std::vector<SharedTensor> shared_tensors;  ///< named in findings; may be empty
  std::uint32_t resident_blocks = 0;         ///< how many the device has room for; 0: all
};

/// Returns the launch of all blocks of a configuration on a problem, on a device with these limits.
/// Without machine code the number of registers is not known, so `resident_blocks` follows from
/// threads and shared memory alone. A kernel that deadlocks with that many resident blocks does so
/// on the device too.
[[nodiscard]] EmulatedLaunch planned_launch(const ConfigCase& of);

/// The expected row values for an input, in the compared part.
struct RowReference {
  std::vector<RowStatistics> rows;  ///< shape: row_value_shape()
  double limit = 0.0;               ///< row_value_limit()
};

/// An output other than O, as a run left it.
struct FurtherOutput {
  std::string name;
  std::optional<RowValue> what;  ///< absent: not a row value
  std::int64_t element_bytes = 0;
  std::vector<std::uint8_t> bytes;  ///< the whole output; poison where nothing was written

  [[nodiscard]] std::int64_t elements() const {
    return static_cast<std::int64_t>(bytes.size()) / element_bytes;
  }
};

/// Returns memory for an output, filled with poison.
[[nodiscard]] emulate::Allocation poisoned_output(const KernelBuffer& output);
[[nodiscard]] FurtherOutput further_output(const KernelBuffer& output,
                                           const emulate::Allocation& left);

/// Compares an output of row values with `reference`. Other outputs are not compared, but are wrong
/// if nothing at all was written there. `reference` may be null for them.
[[nodiscard]] ErrorStats compare_further(const std::string& input, const EmulatedProblem& on,
                                         const FurtherOutput& output,
                                         const RowReference* reference);

/// Counts the elements that differ. Precondition: both are the same output of two runs.
[[nodiscard]] std::int64_t count_different(const FurtherOutput& a, const FurtherOutput& b);

/// The inputs of one kind for a problem, and the expected output.
struct EmulatedInput {
  std::string name;
  HeadInputs tensors;           ///< shape: as tensor_shape() says
  std::vector<double> exact;    ///< the float64 reference for the compared part
  std::vector<double> rounded;  ///< the 16-bit reference for the compared part
  /// `exact` of the inputs before they were rounded to 8 bits; empty unless has_fitted_scales().
  std::vector<double> unrounded{};
  std::vector<double> units{};  ///< column_units()
};

/// Returns the elements of one tensor that belong to the compared part.
/// shape: elements: tensor_shape() of the problem; result: tensor_shape() of compared_part()
[[nodiscard]] std::vector<std::uint16_t> compared_elements(
    const EmulatedProblem& of, TensorRole role, const std::vector<std::uint16_t>& elements);

/// Inputs and references of problems. Each is made once, even if many configurations share it. Safe
/// to use from several threads.
class EmulatedInputs {
 public:
  explicit EmulatedInputs(std::uint64_t seed) : seed_(seed) {}

  /// Returns one input for each of input_kinds(). They live as long as this object.
  [[nodiscard]] const std::vector<EmulatedInput>& of(const EmulatedProblem& problem);
  /// Returns the row references of the inputs that of() returns, in the same order.
  [[nodiscard]] const std::vector<RowReference>& row_references(const EmulatedProblem& problem);
  /// Returns the tensors of the first input kind alone, without references.
  /// shape: as tensor_shape() says
  [[nodiscard]] const HeadInputs& random_tensors(const Problem& problem);
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  std::uint64_t seed_;
  std::mutex mutex_;
  std::map<EmulatedProblem, std::vector<EmulatedInput>> inputs_;
  std::map<EmulatedProblem, std::vector<RowReference>> rows_;
  std::map<Problem, HeadInputs> tensors_;
};

}  // namespace fatune
