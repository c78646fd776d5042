#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "core/members.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// Extents of the intermediates that a kernel writes (kernels/common/attention_dump.h).
struct DumpExtents {
  std::int64_t rows = 0;      ///< query rows, padded to whole tiles
  std::int64_t keys = 0;      ///< padded to whole tiles
  std::int64_t kv_tiles = 0;  ///< steps, if every tile is visited

  /// The size of S, P, M, L and O together, in fp32 values. Precondition: d_head is the problem's.
  [[nodiscard]] std::int64_t values(std::int64_t d_head) const {
    return 2 * rows * keys + kv_tiles * rows * (2 + d_head);
  }
};

/// One launch of one kernel on inputs that the caller has made.
struct DebugRequest {
  std::string label;  ///< the configuration's short form, for messages
  Problem problem;    ///< batch 1, one head
  Artifact artifact;  ///< its name, and machine code or, for the emulator, PTX
  LaunchGeometry geometry;
  std::optional<DumpExtents> dump;  ///< present: the arguments have it too (forward_arguments.hpp)
  std::vector<std::uint16_t> q;     ///< [seq_len, d_head] elements, like k and v
  std::vector<std::uint16_t> k;
  std::vector<std::uint16_t> v;
};
FATUNE_DESCRIBED(DebugRequest, (label), (problem), (artifact, kElsewhere), (geometry), (dump),
                 (q, kElsewhere), (k, kElsewhere), (v, kElsewhere))

/// The values that the kernel wrote; NaN where it wrote nothing.
struct DebugRun {
  std::vector<std::uint16_t> output;  ///< [seq_len, d_head] elements
  std::vector<float> dump;            ///< S, P, M, L, O one after the other; empty: not requested
};

/// A run or, in its place, Unlaunchable, Crashed or TimedOut.
using DebugResult = std::variant<DebugRun, Outcome>;

}  // namespace fatune
