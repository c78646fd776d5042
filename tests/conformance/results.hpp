#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/case.hpp"

namespace fatune::conformance {

/// The input of a kernel: a slot for each operand, and at least one byte.
[[nodiscard]] std::vector<std::uint8_t> input_bytes(const std::vector<std::uint64_t>& operands);
/// Extracts the results from the output of a kernel, thread by thread.
[[nodiscard]] std::vector<std::uint64_t> results_of(const Case& one,
                                                    const std::vector<std::uint8_t>& output);

/// The comparison of two runs of a case on the same operands.
struct Comparison {
  std::size_t wrong = 0;           ///< results that differ by more than the case's bound
  std::size_t unequal = 0;         ///< results whose bits differ
  double worst_relative = 0.0;     ///< over numbers that differ
  std::vector<std::string> texts;  ///< the first wrong ones: instruction, operands, both results
};

/// `expected` has the GPU's results. bounds.hpp says whether bits may differ, and by how much.
[[nodiscard]] Comparison compare(const Case& one, const std::vector<std::uint64_t>& operands,
                                 const std::vector<std::uint64_t>& expected,
                                 const std::vector<std::uint64_t>& got);

}  // namespace fatune::conformance
