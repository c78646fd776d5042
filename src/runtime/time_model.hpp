#pragma once

// The time of a launch by the model of a kernel family (docs/estimate.md of fatune), and how
// measured times correct it. Allocates nothing.

#include <array>
#include <cstdint>
#include <limits>

namespace fatune_attention::detail {

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
  static constexpr int kMostRows = 1024;

  TileOrder order = TileOrder::even;
  std::int64_t sms = 1;  ///< that compute tiles; those of a cluster count as one
  std::int64_t heads = 1;
  std::int64_t section_heads = 1;
  int rows = 0;  ///< rows of tiles of a head that are listed
  /// The number of rows that each listed one stands for. Above 1, there are too many to list, and
  /// tiles count as shared evenly.
  double rows_each = 1.0;
  /// Inner steps of a head's tiles, in the order of its rows. A row without steps has no tile.
  /// Those behind `rows` mean nothing.
  std::array<double, kMostRows> row_steps;

  /// Sets `rows` and `rows_each` for a head of so many rows.
  void list_rows(std::int64_t count);
  /// The place, among all rows of a head, of one that is listed.
  [[nodiscard]] double row(int listed) const;
};

/// The whole number in `value`, at least 1.
std::int64_t count_of(double value);

/// A family's model of the time of one launch.
struct TimeModel {
  double launch_clocks = 0.0;
  double tile_clocks = 0.0;  ///< clocks of each tile without its steps
  double step_clocks = 0.0;  ///< clocks of each step of a tile
  /// Clocks in which device memory could give all that the tiles read, if nothing else took time.
  /// 0: it never decides.
  double memory_clocks = 0.0;
  TileSchedule schedule;
};

/// What one SM computes.
struct TileShare {
  double tiles;
  double steps;
};

/// What all SMs compute: groups of SMs that compute the same, those that finish first before
/// others.
struct TileShares {
  static constexpr int kMostSms = 1024;

  struct Group {
    TileShare share;
    std::int64_t sms;
  };

  std::array<Group, kMostSms> groups;  ///< those behind `count` mean nothing
  int count = 0;                       ///< at least 1

  [[nodiscard]] const TileShare& last() const {
    return groups[static_cast<std::size_t>(count - 1)].share;
  }
};

/// How SMs share the tiles if a tile takes `tile_clocks` and each of its steps `step_clocks`. Of
/// more than 1024 tiles of different lengths, those before the last 1024 are taken to be shared
/// evenly, unless they are computed in turn; of more than 65536, all are.
TileShares tile_shares(const TileSchedule& schedule, double tile_clocks, double step_clocks);

/// The clocks of a launch by its model, and the parts of them that measured times correct. From the
/// time at which one SM finishes to that at which the next one does, memory gives what the SMs that
/// still compute read. The sixth powers of the tiles' clocks and of the memory's are added up, so
/// that the greater of the two decides where they differ much.
struct ModelTime {
  static constexpr std::size_t kParts = 4;

  double clocks = 0.0;
  /// 1, and parts of the clocks: by how much those of tiles change them, those of the launch, and
  /// those that would not pass if SMs shared the tiles evenly.
  std::array<double, kParts> parts{};
};
ModelTime model_time(const TimeModel& model, const TileShares& shares);
ModelTime model_time(const TimeModel& model);

/// A configuration's time on one GPU as measured times say it: the logarithm of its microseconds is
///
///   log_us + log_slope * log(clocks) + sum(parts[i] * ModelTime::parts[i])
struct TimeFit {
  double log_us = 0.0;
  double log_slope = 1.0;
  std::array<double, ModelTime::kParts> parts{};
  /// Above these, the family has no measured time that is nearly as long.
  double most_clocks = std::numeric_limits<double>::infinity();
};
double predicted_us(const TimeFit& fit, const ModelTime& time);

}  // namespace fatune_attention::detail
