#pragma once

#include "core/tile_schedule.hpp"

namespace fatune {

/// What one SM computes.
struct TileShare {
  double tiles = 0.0;
  double steps = 0.0;
};

/// The share of the SM that finishes last, if a tile takes `tile_clocks` and each of its steps
/// `step_clocks`. Of more than 4096 tiles, the first are taken to be shared evenly, unless they are
/// computed in turn; of more than 65536, all are.
[[nodiscard]] TileShare busiest_share(const TileSchedule& schedule, double tile_clocks,
                                      double step_clocks);

}  // namespace fatune
