#pragma once

#include <cstdint>
#include <vector>

namespace fatune {

/// Which SM computes which tile of the queries.
enum class TileOrder {
  even,       ///< no SM has more work than another: SMs share tiles
  in_turn,    ///< SM i computes tiles i, i + SMs, i + 2 SMs, ...
  when_free,  ///< an SM that has finished a tile takes the next one
  one_ahead,  ///< an SM takes the next tile when it begins the one before it
};

/// The tiles of a launch, in the order in which they are taken: row by row of a section of heads,
/// then of the next section.
struct TileSchedule {
  TileOrder order = TileOrder::even;
  std::int64_t sms = 1;  ///< that compute tiles; those of a cluster count as one
  std::int64_t heads = 1;
  std::int64_t section_heads = 1;
  std::vector<double> row_steps;  ///< inner steps of a head's tiles, in the order of its rows
  /// The number of rows that each item of `row_steps` stands for. Above 1, there are too many rows
  /// to list, and `order` is `even`.
  double rows_each = 1.0;
};

/// A family's model of the time of one launch.
struct TimeModel {
  double launch_clocks = 0.0;
  double tile_clocks = 0.0;  ///< clocks of each tile without its steps
  double step_clocks = 0.0;  ///< clocks of each step of a tile
  TileSchedule schedule;
};

/// How much longer than its share of the work a kernel may take on a part of a problem, relative to
/// its time, because the last wave of its blocks is less full there than on the whole problem. 0.01
/// is 1 %; below 0: that wave is fuller on the part.
struct PartTail {
  double least = 0.0;
  double most = 0.0;
};

}  // namespace fatune
