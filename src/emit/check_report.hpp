#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/outcome.hpp"
#include "core/sanitizer.hpp"
#include "emit/coverage.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// CheckedInput::tool of what was run on the CPU (docs/emulate.md).
inline constexpr const char* kEmulatorTool = "emulator";

/// One configuration's output on one kind of input of one seed; or why there is none.
struct CheckedInput {
  Problem problem;
  std::string config;  ///< short form
  std::uint64_t seed = 0;
  OutcomeKind outcome = OutcomeKind::not_verified;
  std::optional<ErrorStats> stats;      ///< absent: it never got so far
  std::string detail;                   ///< what went wrong; empty: nothing
  std::optional<RowMismatches> rows{};  ///< which of its rows are wrong; absent: not asked for
  /// The tool of compute-sanitizer under which it ran, on all inputs; or kEmulatorTool. Empty:
  /// none.
  std::string tool{};
  std::vector<SanitizerFinding> findings{};  ///< of that tool
};

[[nodiscard]] bool is_right(const CheckedInput& checked);
/// Whether it was run on the CPU, not on a GPU.
[[nodiscard]] bool is_emulated(const CheckedInput& checked);

/// JSON (configs/schema/check.schema.json) and CSV have every row. Tables and Markdown have, for
/// each configuration, seed and tool, the input that came closest to its limit, or went furthest
/// beyond it, and a last line that counts; then what is known of the outputs' rows. `coverage`:
/// what was planned, each configuration with each seed and tool; what is done, the rows say.
/// `with_rows`: CSV has the outputs' rows with a mismatch in place of the checks, which have no
/// room for them.
[[nodiscard]] Document check_document(const std::vector<CheckedInput>& rows,
                                      const Coverage& coverage = {}, bool with_rows = false);

/// One column of that list.
[[nodiscard]] const std::vector<Field<CheckedInput>>& checked_input_fields();

}  // namespace fatune
