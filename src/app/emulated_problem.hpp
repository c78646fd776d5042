#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/init_kind.hpp"
#include "core/problem.hpp"
#include "debug/head_inputs.hpp"

namespace fatune {

/// What every configuration is emulated on. With large logits the greatest score of a row rises
/// from tile to tile, which normal ones hardly make it do.
inline constexpr std::array kEmulatedInputs{InitKind::random, InitKind::large_logits};

/// One kind of input of a problem, and what should come out.
struct EmulatedInput {
  std::string name;
  HeadInputs tensors;           ///< shape: each (batch, seq_len, heads, d_head)
  std::vector<double> exact;    ///< float64
  std::vector<double> rounded;  ///< the 16-bit reference
};

/// Inputs and references of problems, each made once however many configurations share it. Safe to
/// use from several threads.
class EmulatedProblems {
 public:
  explicit EmulatedProblems(std::uint64_t seed) : seed_(seed) {}

  /// One for each of kEmulatedInputs. What is returned lives as long as this.
  [[nodiscard]] const std::vector<EmulatedInput>& inputs_of(const Problem& problem);

 private:
  std::uint64_t seed_;
  std::mutex mutex_;
  std::map<Problem, std::vector<EmulatedInput>> inputs_;
};

}  // namespace fatune
