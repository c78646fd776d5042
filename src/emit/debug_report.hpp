#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/head_problem.hpp"
#include "debug/compare.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// Why there is nothing of the kernel to compare.
struct DebugFailure {
  OutcomeKind outcome = OutcomeKind::crashed;
  std::string detail;
};

/// One configuration's intermediates, compared.
struct DebugReport {
  std::string family;
  std::string config;  ///< short form
  HeadProblem head;
  bool declares_steps = false;  ///< the family says how its kernel is cut
  std::string init;
  std::uint64_t seed = 0;
  std::string device;               ///< name of the GPU; empty: none was used
  std::string why_not_measured;     ///< empty: the kernel was to run
  bool emulated = false;            ///< the PTX was run on the CPU in its place
  std::string why_not_emulated;     ///< empty: it was, or was not to be
  std::int64_t findings_count = 0;  ///< of the emulator
  std::string first_finding;        ///< with its place; empty: there is none
  std::optional<DebugFailure> failure;
  std::vector<StepCheck> checks;
  std::string likely_cause;  ///< of the first check that is wrong; empty: there is none
};

/// The kernel ran, or was emulated, and everything that it shows is right.
[[nodiscard]] bool is_right(const DebugReport& report);
/// Neither; there is nothing but the CPU's values.
[[nodiscard]] bool has_not_run(const DebugReport& report);

/// JSON follows configs/schema/debug.schema.json; it and CSV have every check. Tables and Markdown
/// have a line for each step and, when something is wrong, where it is so first.
[[nodiscard]] Document debug_document(const DebugReport& report);

/// One column of the list of checks.
[[nodiscard]] const std::vector<Field<StepCheck>>& step_check_fields();

}  // namespace fatune
