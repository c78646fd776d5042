#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/case.hpp"

namespace fatune::conformance {

/// The input of a kernel: a slot for each operand; at least one byte.
[[nodiscard]] std::vector<std::uint8_t> input_bytes(const std::vector<std::uint64_t>& operands);
/// The results in what a kernel has written, thread by thread.
[[nodiscard]] std::vector<std::uint64_t> results_of(const Case& one,
                                                    const std::vector<std::uint8_t>& output);

/// Two runs of a case on the same operands.
struct Comparison {
  std::size_t wrong = 0;           ///< results that differ by more than the case's bound
  std::size_t unequal = 0;         ///< results whose bits differ
  double worst_relative = 0.0;     ///< of numbers that differ
  std::vector<std::string> texts;  ///< of the first wrong ones: instruction, operands, both results
};

/// Expected is what the GPU gave. Whether bits may differ, and by how much: bounds.hpp.
[[nodiscard]] Comparison compare(const Case& one, const std::vector<std::uint64_t>& operands,
                                 const std::vector<std::uint64_t>& expected,
                                 const std::vector<std::uint64_t>& got);

}  // namespace fatune::conformance
