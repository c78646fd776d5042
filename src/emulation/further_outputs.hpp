#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/cpu_reference.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "emulate/memory/global_memory.hpp"
#include "emulation/emulated_problem.hpp"

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

}  // namespace fatune
