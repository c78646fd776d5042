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

/// The part of a problem's output that is compared: all of it, or one head of a problem of batch 1.
struct EmulatedProblem {
  Problem problem;
  std::optional<std::int64_t> only_head;

  auto operator<=>(const EmulatedProblem&) const = default;
};

/// The part of it that is compared, as a problem of its own.
[[nodiscard]] Problem compared_part(const EmulatedProblem& of);

/// "b1 s256 h16 d128 FP16", "b1 s256 h16 d128 FP16, head 15 alone": for people.
[[nodiscard]] std::string describe(const EmulatedProblem& problem);

/// How a kernel is launched on it.
struct EmulatedLaunch {
  EmulatedProblem on;
  LaunchGeometry geometry;
  BlockBox blocks;  ///< that are run, if `on` is one head alone; else all are
  std::vector<SharedTensor> shared_tensors;  ///< that findings name; may be empty
  std::uint32_t resident_blocks = 0;         ///< that the device has room for; 0: for all
};

}  // namespace fatune
