#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/row_values.hpp"
#include "core/kernel_arguments.hpp"
#include "core/outcome.hpp"
#include "emulate/memory/global_memory.hpp"
#include "emulation/emulated_problem.hpp"

namespace fatune {

/// The row values of an input, in the part that is compared.
struct RowReference {
  std::vector<RowStatistics> rows;  ///< shape: (batch, heads, seq_len)
  double limit = 0.0;               ///< row_value_limit()
};

/// An output beside O, as a run has left it.
struct FurtherOutput {
  std::string name;
  std::optional<RowValue> what;  ///< nothing: nobody knows
  std::int64_t element_bytes = 0;
  std::vector<std::uint8_t> bytes;  ///< all of it; poison where nothing was written

  [[nodiscard]] std::int64_t elements() const {
    return static_cast<std::int64_t>(bytes.size()) / element_bytes;
  }
};

/// Memory for an output, filled with poison.
[[nodiscard]] emulate::Allocation poisoned_output(const KernelBuffer& output);
[[nodiscard]] FurtherOutput further_output(const KernelBuffer& output,
                                           const emulate::Allocation& left);

/// Errors of row values. Nothing is compared of other outputs, but they are wrong when nothing at
/// all was written there. `reference`: null unless the output is of row values.
[[nodiscard]] ErrorStats compare_further(const std::string& input, const EmulatedProblem& on,
                                         const FurtherOutput& output,
                                         const RowReference* reference);

/// How many elements differ. Both are of one output.
[[nodiscard]] std::int64_t count_different(const FurtherOutput& a, const FurtherOutput& b);

}  // namespace fatune
