#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attention/head_problem.hpp"
#include "attention/input_kind.hpp"
#include "core/shared_tensor.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// A kernel to emulate for the `debug` command. Holds references to its parts.
struct EmulatedDebugCase {
  const std::string& config;  ///< short form
  const Artifact& artifact;   ///< must have its PTX
  const SourceBundle& sources;
  LaunchGeometry geometry;
  Problem problem;  ///< batch 1, one head
  std::optional<DumpExtents> dump;
  const HeadInputs& inputs;
  std::vector<SharedTensor> shared_tensors;  ///< named in findings; may be empty
};

/// The result of one run on the CPU.
struct EmulatedDebug {
  DebugRun run;
  bool finished = false;  ///< false: a finding ended the run
  std::vector<EmulatedFinding> findings;
  std::vector<FindingGroup> groups;
};

/// The reason why the kernel was not emulated.
struct NotEmulated {
  std::string why;
};

/// The longest sequence that is emulated. Time and intermediates grow with its square.
inline constexpr std::int64_t kMostEmulatedKeys = 2048;

/// Runs the kernel once, with asynchronous copies as late as possible, under all checks.
[[nodiscard]] std::variant<EmulatedDebug, NotEmulated> emulate_for_debug(
    const EmulatedDebugCase& of);

}  // namespace fatune
