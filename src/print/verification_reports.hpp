#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/device_limits.hpp"
#include "model/emulation.hpp"
#include "model/head_problem.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/sanitizer.hpp"
#include "print/document/document.hpp"
#include "proof/compare_steps.hpp"

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
  std::optional<ErrorStats> stats;      ///< absent: nothing was compared
  std::string detail;                   ///< what went wrong; empty: nothing
  std::optional<RowMismatches> rows{};  ///< which of its rows are wrong; absent: not asked for
  /// The tool of compute-sanitizer under which it ran on all inputs, or kEmulatorTool; empty: none.
  std::string tool{};
  std::vector<SanitizerFinding> findings{};  ///< what that tool has found
};

[[nodiscard]] bool is_right(const CheckedInput& checked);
/// Whether it was run on the CPU, not on a GPU.
[[nodiscard]] bool is_emulated(const CheckedInput& checked);

/// JSON (configs/schema/check.schema.json) and CSV have every check. Tables and Markdown show, for
/// each configuration, seed and tool, the input that came closest to its limit, or went furthest
/// beyond it. A line with counts follows, then what is known of the outputs' rows.
/// `coverage` says how many checks were planned: each configuration with each seed and tool. `rows`
/// are those that were done. With `with_rows`, CSV has the outputs' rows with a mismatch instead of
/// the checks.
[[nodiscard]] Document check_document(const std::vector<CheckedInput>& rows,
                                      const Coverage& coverage = {}, bool with_rows = false);

/// The columns of the list of checks.
[[nodiscard]] Fields<CheckedInput> checked_input_fields();

/// Why the kernel gave no values to compare.
struct DebugFailure {
  OutcomeKind outcome = OutcomeKind::crashed;
  std::string detail;
};

/// The comparison of one configuration's intermediates.
struct DebugReport {
  std::string family;
  std::string config;  ///< short form
  HeadProblem head;
  std::vector<std::string> also_right;  ///< other problems on which everything was right
  bool declares_steps = false;          ///< the family declares how its kernel is cut into steps
  std::string init;
  std::uint64_t seed = 0;
  std::string device;               ///< name of the GPU; empty: none was used
  std::string why_not_measured;     ///< empty: the kernel was to run on a GPU
  bool emulated = false;            ///< the PTX was run on the CPU instead
  std::string why_not_emulated;     ///< empty: it was emulated, or was not to be
  std::int64_t findings_count = 0;  ///< how many the emulator has found
  std::string first_finding;        ///< the first finding with its place; empty: there is none
  std::optional<DebugFailure> failure;
  std::vector<StepCheck> checks;
  std::string likely_cause;  ///< why the first wrong check may fail; empty: nothing hints at it
};

/// Whether the kernel ran or was emulated, and everything that it shows is right.
[[nodiscard]] bool is_right(const DebugReport& report);
/// Whether the kernel neither ran nor was emulated: there are only the CPU's values.
[[nodiscard]] bool has_not_run(const DebugReport& report);

/// JSON follows configs/schema/debug.schema.json; JSON and CSV have every check. Tables and
/// Markdown have a line for each step and, if something is wrong, the first place where it is.
[[nodiscard]] Document debug_document(const DebugReport& report);

/// The columns of the list of checks.
[[nodiscard]] Fields<StepCheck> step_check_fields();

struct EmulateReport {
  std::string family;
  std::string space;  ///< empty when configurations were named
  Arch arch;
  std::string toolchain;
  std::vector<std::string> schedules;
  std::vector<std::string> inputs;
  std::int64_t seed = 0;
  std::vector<std::string> checks;  ///< the checks whose findings count
  Coverage coverage;                ///< how many configurations were emulated
  std::vector<EmulatedConfig> configs;
};

/// Every format that has room for it says that nothing was measured. JSON follows
/// configs/schema/emulate.schema.json. CSV has a row for each configuration, without its findings.
[[nodiscard]] Document emulate_document(const EmulateReport& report);

[[nodiscard]] Fields<EmulatedConfig> emulated_config_fields();
[[nodiscard]] Fields<EmulatedFinding> emulated_finding_fields();
[[nodiscard]] Fields<EmulatedAccess> emulated_access_fields();
[[nodiscard]] Fields<FindingGroup> finding_group_fields();
[[nodiscard]] Fields<EmulatedPart> emulated_part_fields();
[[nodiscard]] Fields<EmulatedLine> emulated_line_fields();

}  // namespace fatune
