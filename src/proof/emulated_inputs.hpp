#pragma once

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
#include "proof/emulated_problem.hpp"

namespace fatune {

/// The expected row values for an input, in the compared part.
struct RowReference {
  std::vector<RowStatistics> rows;  ///< shape: (batch, heads, seq_len)
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

  /// Returns one input for each of kInputKinds. They live as long as this object.
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
