#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "core/shared_tensor.hpp"
#include "emulation/block_box.hpp"

namespace fatune {

/// A problem and the part of its output that is compared: all of it, or one head if batch is 1.
struct EmulatedProblem {
  Problem problem;
  std::optional<std::int64_t> only_head;

  auto operator<=>(const EmulatedProblem&) const = default;
};

/// Returns the compared part as a problem of its own.
[[nodiscard]] Problem compared_part(const EmulatedProblem& of);

/// Describes a problem for people: "b1 s256 h16 d128 FP16", or "b1 s256 h16 d128 FP16, head 15
/// alone".
[[nodiscard]] std::string describe(const EmulatedProblem& problem);

/// A launch of a kernel on a problem.
struct EmulatedLaunch {
  EmulatedProblem on;
  LaunchGeometry geometry;
  BlockBox blocks;  ///< the blocks to run if only one head is compared; otherwise all run
  std::vector<SharedTensor> shared_tensors;  ///< named in findings; may be empty
  std::uint32_t resident_blocks = 0;         ///< how many the device has room for; 0: all
};

}  // namespace fatune
