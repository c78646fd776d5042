#pragma once

#include <cstdint>
#include <vector>

#include "conformance/case.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace fatune::conformance {

/// Runs cases on the emulator.
class EmulatedKernels {
 public:
  explicit EmulatedKernels(std::vector<Case> cases);

  /// Returns the results of case `index` for operand_values(case, tuples): result i of thread t is
  /// element t * results + i. Precondition: `tuples` fills whole blocks. Throws Error(bad_file) if
  /// an instruction is not supported, and std::runtime_error if the emulator finds a mistake in the
  /// kernel.
  [[nodiscard]] std::vector<std::uint64_t> run(std::size_t index,
                                               const std::vector<std::uint64_t>& operands,
                                               std::size_t tuples) const;

 private:
  std::vector<Case> cases_;
  PtxModule module_;
};

}  // namespace fatune::conformance
