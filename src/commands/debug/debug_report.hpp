#pragma once

#include "model/head_problem.hpp"
#include "model/outcome.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"
#include "proof/compare_steps.hpp"

namespace fatune {

/// Why the kernel gave no values to compare.
struct DebugFailure {
  OutcomeKind outcome = OutcomeKind::crashed;
  std::string detail;
};

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
[[nodiscard]] inline bool has_not_run(const DebugReport& report) {
  return !report.why_not_measured.empty() && !report.emulated && !report.failure;
}

/// JSON follows configs/schema/debug.schema.json; JSON and CSV have every check. Tables and
/// Markdown have a line for each step and, if something is wrong, the first place where it is.
[[nodiscard]] Document debug_document(const DebugReport& report);

[[nodiscard]] Fields<StepCheck> step_check_fields();

}  // namespace fatune
