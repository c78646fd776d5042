#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attention/debug_request.hpp"
#include "attention/head_inputs.hpp"
#include "core/shared_tensor.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// A kernel that is emulated for `debug`. Refers to its parts.
struct EmulatedDebugCase {
  const std::string& config;  ///< short form
  const Artifact& artifact;   ///< with its PTX
  const SourceBundle& sources;
  LaunchGeometry geometry;
  Problem problem;  ///< batch 1, one head
  std::optional<DumpExtents> dump;
  const HeadInputs& inputs;
  std::vector<SharedTensor> shared_tensors;  ///< that findings name; may be empty
};

/// The result of one run on the CPU.
struct EmulatedDebug {
  DebugRun run;
  bool finished = false;  ///< false: a finding has ended it
  std::vector<EmulatedFinding> findings;
  std::vector<FindingGroup> groups;
};

/// Why there is none.
struct NotEmulated {
  std::string why;
};

/// Longer sequences are not emulated: time and intermediates grow with the square of the length.
inline constexpr std::int64_t kMostEmulatedKeys = 2048;

/// Runs it once, asynchronous copies as late as may be, under all checks.
[[nodiscard]] std::variant<EmulatedDebug, NotEmulated> emulate_for_debug(
    const EmulatedDebugCase& of);

}  // namespace fatune
