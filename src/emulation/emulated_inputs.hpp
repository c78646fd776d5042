#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "attention/head_inputs.hpp"
#include "attention/input_kind.hpp"
#include "attention/tensor_shape.hpp"
#include "emulation/emulated_problem.hpp"
#include "emulation/further_outputs.hpp"

namespace fatune {

/// One kind of input of a problem, and what should come out.
struct EmulatedInput {
  std::string name;
  HeadInputs tensors;           ///< shape: as tensor_shape() says
  std::vector<double> exact;    ///< float64; of the part that is compared, as `rounded`
  std::vector<double> rounded;  ///< the 16-bit reference
};

/// Elements of the part that is compared, of one of its tensors.
/// shape: as tensor_shape() says of the problem; result: of compared_part()
[[nodiscard]] std::vector<std::uint16_t> compared_elements(
    const EmulatedProblem& of, TensorRole role, const std::vector<std::uint16_t>& elements);

/// Inputs and references of problems, each made once however many configurations share it. Safe to
/// use from several threads.
class EmulatedInputs {
 public:
  explicit EmulatedInputs(std::uint64_t seed) : seed_(seed) {}

  /// One for each of kInputKinds. The returned inputs live as long as this object.
  [[nodiscard]] const std::vector<EmulatedInput>& of(const EmulatedProblem& problem);
  /// For the same inputs, in their order.
  [[nodiscard]] const std::vector<RowReference>& row_references(const EmulatedProblem& problem);
  /// The first of them alone, without references. shape: as tensor_shape() says
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
