#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "model/shared_tensor.hpp"
#include "plan/family.hpp"

namespace fatune {

/// A box of blocks in a grid: `extent` blocks along each axis, from `first` on.
struct BlockBox {
  std::array<std::int64_t, 3> first{0, 0, 0};
  std::array<std::int64_t, 3> extent{1, 1, 1};

  /// `block` is the linear index in the launch's grid, x fastest.
  [[nodiscard]] bool contains(std::int64_t block, const LaunchGeometry& launch) const {
    const auto& grid = launch.grid;
    const std::array<std::int64_t, 3> at{block % grid[0], block / grid[0] % grid[1],
                                         block / grid[0] / grid[1]};
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (at[axis] < first[axis] || at[axis] >= first[axis] + extent[axis]) {
        return false;
      }
    }
    return true;
  }
};

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

/// Returns the launch of all blocks of a configuration on a problem, on a device with these limits.
/// Without machine code the number of registers is not known, so `resident_blocks` follows from
/// threads and shared memory alone. A kernel that deadlocks with that many resident blocks does so
/// on the device too.
[[nodiscard]] EmulatedLaunch planned_launch(const Family& family, const Config& config,
                                            const Problem& problem, const DeviceLimits& limits);

}  // namespace fatune
