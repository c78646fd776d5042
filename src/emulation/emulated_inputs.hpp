#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "attention/input_kind.hpp"
#include "attention/problem.hpp"
#include "emulation/emulated_problem.hpp"
#include "emulation/further_outputs.hpp"

namespace fatune {

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
