#pragma once

#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/sanitizer.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// The CheckedInput::tool of a run on the CPU (docs/emulate.md).
inline constexpr const char* kEmulatorTool = "emulator";

/// The check of one configuration's output on one kind of input with one seed, or why there is no
/// output.
struct CheckedInput {
  Problem problem;
  std::string config;  ///< short form
  std::uint64_t seed = 0;
  OutcomeKind outcome = OutcomeKind::not_verified;
  std::optional<ErrorStats> stats{};    ///< absent: nothing was compared
  std::string detail{};                 ///< what went wrong; empty: nothing
  std::optional<RowMismatches> rows{};  ///< which of its rows are wrong; absent: not asked for
  /// The tool of compute-sanitizer under which it ran on all inputs, or kEmulatorTool; empty: none.
  std::string tool{};
  std::vector<SanitizerFinding> findings{};  ///< what that tool has found
};

[[nodiscard]] inline bool is_right(const CheckedInput& checked) {
  return checked.outcome == OutcomeKind::right;
}
/// Whether it was run on the CPU, not on a GPU.
[[nodiscard]] inline bool is_emulated(const CheckedInput& checked) {
  return checked.tool == kEmulatorTool;
}

/// JSON (configs/schema/check.schema.json) and CSV have every check. Tables and Markdown show, for
/// each configuration, seed and tool, the input that came closest to its limit, or went furthest
/// beyond it. A line with counts follows, then what is known of the outputs' rows.
/// `coverage` says how many checks were planned: each configuration with each seed and tool. `rows`
/// are those that were done. With `with_rows`, CSV has the outputs' rows with a mismatch instead of
/// the checks.
[[nodiscard]] Document check_document(const std::vector<CheckedInput>& rows,
                                      const Coverage& coverage = {}, bool with_rows = false);

[[nodiscard]] Fields<CheckedInput> checked_input_fields();

}  // namespace fatune
