#pragma once

#include <array>
#include <cstdint>

#include "core/kernel_code.hpp"

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

}  // namespace fatune
