#pragma once

#include <cstdint>
#include <vector>

#include "conformance/case.hpp"
#include "ptx/module.hpp"

namespace fatune::conformance {

/// Cases as the emulator carries them out.
class EmulatedKernels {
 public:
  explicit EmulatedKernels(std::vector<Case> cases);

  /// Results of case `index` for operand_values(case, tuples): thread t's result i is element
  /// t * results + i. Precondition: whole blocks. Throws Error(bad_file) for an instruction that is
  /// not covered, std::runtime_error when the emulator finds a mistake in the kernel.
  [[nodiscard]] std::vector<std::uint64_t> run(std::size_t index,
                                               const std::vector<std::uint64_t>& operands,
                                               std::size_t tuples) const;

 private:
  std::vector<Case> cases_;
  PtxModule module_;
};

}  // namespace fatune::conformance
