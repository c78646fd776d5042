#include "rank/tile_share.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace fatune {
namespace {

constexpr double kMostListed = 65536.0;
constexpr std::size_t kMostScheduled = 4096;

double tile_count(const TileSchedule& schedule) {
  return static_cast<double>(schedule.heads) * schedule.rows_each *
         static_cast<double>(schedule.row_steps.size());
}

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TileShare even_share(const TileSchedule& schedule) {
  const auto sms = static_cast<double>(schedule.sms);
  const double steps =
      sum(schedule.row_steps) * schedule.rows_each * static_cast<double>(schedule.heads);
  return {tile_count(schedule) / sms, steps / sms};
}

/// The steps of each tile, in the order in which tiles are taken.
std::vector<double> steps_in_order(const TileSchedule& schedule) {
  std::vector<double> steps;
  steps.reserve(static_cast<std::size_t>(tile_count(schedule)));
  for (std::int64_t first = 0; first < schedule.heads; first += schedule.section_heads) {
    const auto heads =
        static_cast<std::size_t>(std::min(schedule.section_heads, schedule.heads - first));
    for (const double row : schedule.row_steps) {
      steps.insert(steps.end(), heads, row);
    }
  }
  return steps;
}

/// Gives tiles to SMs.
class Scheduler {
 public:
  Scheduler(std::int64_t sms, double tile_clocks, double step_clocks)
      : sms_(sms), tile_clocks_(tile_clocks), step_clocks_(step_clocks) {}

  [[nodiscard]] TileShare in_turn(std::span<const double> steps) const {
    std::vector<TileShare> shares(static_cast<std::size_t>(sms_));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      add(shares[i % shares.size()], steps[i]);
    }
    return *std::ranges::max_element(shares, {}, [&](const TileShare& s) { return clocks(s); });
  }

  [[nodiscard]] TileShare as_taken(std::span<const double> steps, bool one_ahead) const {
    std::priority_queue<Turn> turns;
    for (std::int64_t i = 0; i < sms_; ++i) {
      turns.push({});
    }
    TileShare last;
    for (const double tile_steps : steps) {
      TileShare share = turns.top().share;
      turns.pop();
      const double begins = clocks(share);
      add(share, tile_steps);
      const double ends = clocks(share);
      last = ends > clocks(last) ? share : last;
      turns.push({one_ahead ? begins : ends, share});
    }
    return last;
  }

 private:
  /// What an SM has taken so far, and when it takes its next tile.
  struct Turn {
    double clocks = 0.0;
    TileShare share;

    /// The next turn is the greatest.
    bool operator<(const Turn& other) const {
      return std::pair(clocks, share.tiles) > std::pair(other.clocks, other.share.tiles);
    }
  };

  static void add(TileShare& share, double steps) {
    share.tiles += 1.0;
    share.steps += steps;
  }
  [[nodiscard]] double clocks(const TileShare& share) const {
    return share.tiles * tile_clocks_ + share.steps * step_clocks_;
  }

  std::int64_t sms_;
  double tile_clocks_;
  double step_clocks_;
};

}  // namespace

TileShare busiest_share(const TileSchedule& schedule, double tile_clocks, double step_clocks) {
  if (schedule.order == TileOrder::even || schedule.rows_each > 1.0 ||
      tile_count(schedule) > kMostListed) {
    return even_share(schedule);
  }
  const std::vector<double> steps = steps_in_order(schedule);
  const Scheduler scheduler(schedule.sms, tile_clocks, step_clocks);
  if (schedule.order == TileOrder::in_turn) {
    return scheduler.in_turn(steps);
  }
  const std::size_t last = std::min(steps.size(), kMostScheduled);
  const std::span<const double> all(steps);
  const auto before = all.first(all.size() - last);
  TileShare share = scheduler.as_taken(all.last(last), schedule.order == TileOrder::one_ahead);
  share.tiles += static_cast<double>(before.size()) / static_cast<double>(schedule.sms);
  share.steps += sum(before) / static_cast<double>(schedule.sms);
  return share;
}

}  // namespace fatune
