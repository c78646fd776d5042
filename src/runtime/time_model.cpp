#include "time_model.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "numbers.hpp"

namespace fatune_attention::detail {
namespace {

constexpr double kMostTiles = 65536.0;
constexpr std::int64_t kMostScheduled = 1024;
constexpr std::int64_t kMostSms = 1024;

std::int64_t listed_tiles(const TileSchedule& schedule) { return schedule.heads * schedule.rows; }

/// Calls `use(steps)` for each tile in the order in which tiles are taken.
template <typename Use>
void for_each_tile(const TileSchedule& schedule, Use use) {
  for (std::int64_t first = 0; first < schedule.heads; first += schedule.section_heads) {
    const std::int64_t heads = std::min(schedule.section_heads, schedule.heads - first);
    for (int row = 0; row < schedule.rows; ++row) {
      for (std::int64_t head = 0; head < heads; ++head) {
        use(schedule.row_steps[static_cast<std::size_t>(row)]);
      }
    }
  }
}

TileShare even_share(const TileSchedule& schedule) {
  double steps = 0.0;
  for (int row = 0; row < schedule.rows; ++row) {
    steps += schedule.row_steps[static_cast<std::size_t>(row)];
  }
  const double each =
      static_cast<double>(schedule.heads) * schedule.rows_each / static_cast<double>(schedule.sms);
  return {schedule.rows * each, steps * each};
}

bool has_equal_tiles(const TileSchedule& schedule) {
  const auto begin = schedule.row_steps.begin();
  return std::all_of(begin, begin + schedule.rows,
                     [&](double steps) { return steps == schedule.row_steps[0]; });
}

/// Gives tiles to SMs.
class Scheduler {
 public:
  Scheduler(const TileSchedule& schedule, double tile_clocks, double step_clocks)
      : schedule_(schedule), tile_clocks_(tile_clocks), step_clocks_(step_clocks) {}

  TileShare in_turn() const {
    std::array<TileShare, kMostSms> shares;
    std::fill_n(shares.begin(), schedule_.sms, TileShare{});
    std::size_t sm = 0;
    for_each_tile(schedule_, [&](double steps) {
      add(shares[sm], steps);
      sm = sm + 1 < static_cast<std::size_t>(schedule_.sms) ? sm + 1 : 0;
    });
    return *std::max_element(shares.begin(), shares.begin() + schedule_.sms,
                             [&](auto& a, auto& b) { return clocks(a) < clocks(b); });
  }

  TileShare as_taken() const {
    std::array<Turn, kMostSms> turns;
    const auto end = turns.begin() + schedule_.sms;
    std::fill(turns.begin(), end, Turn{});
    std::int64_t before = listed_tiles(schedule_) - kMostScheduled;
    TileShare shared;
    TileShare last;
    for_each_tile(schedule_, [&](double steps) {
      if (before-- > 0) {
        add(shared, steps);
        return;
      }
      std::pop_heap(turns.begin(), end);
      Turn& turn = *(end - 1);
      const double begins = clocks(turn.share);
      add(turn.share, steps);
      const double ends = clocks(turn.share);
      last = ends > clocks(last) ? turn.share : last;
      turn.clocks = schedule_.order == TileOrder::one_ahead ? begins : ends;
      std::push_heap(turns.begin(), end);
    });
    const auto sms = static_cast<double>(schedule_.sms);
    return {last.tiles + shared.tiles / sms, last.steps + shared.steps / sms};
  }

 private:
  /// What an SM has taken so far, and when it takes its next tile.
  struct Turn {
    double clocks = 0.0;
    TileShare share;

    /// The next turn is the greatest.
    bool operator<(const Turn& other) const {
      return std::tie(clocks, share.tiles) > std::tie(other.clocks, other.share.tiles);
    }
  };

  static void add(TileShare& share, double steps) {
    share.tiles += 1.0;
    share.steps += steps;
  }
  double clocks(const TileShare& share) const {
    return share.tiles * tile_clocks_ + share.steps * step_clocks_;
  }

  const TileSchedule& schedule_;
  double tile_clocks_;
  double step_clocks_;
};

/// The clocks of an SM's tiles.
double clocks_of(const TimeModel& model, const TileShare& share) {
  return share.tiles * model.tile_clocks + share.steps * model.step_clocks;
}

/// The clocks of tiles that take `work` where memory does not keep them waiting.
double with_memory(const TimeModel& model, double work) {
  return model.memory_clocks > 0.0 ? std::cbrt(std::pow(work, 3) + std::pow(model.memory_clocks, 3))
                                   : work;
}

}  // namespace

void TileSchedule::list_rows(std::int64_t count) {
  rows = static_cast<int>(std::min<std::int64_t>(count, kMostRows));
  rows_each = static_cast<double>(count) / rows;
}

double TileSchedule::row(int listed) const { return std::floor(listed * rows_each); }

std::int64_t count_of(double value) {
  return is_whole(value, 1.0, kMostExact) ? static_cast<std::int64_t>(value) : 1;
}

TileShare busiest_share(const TileSchedule& schedule, double tile_clocks, double step_clocks) {
  const std::int64_t tiles = listed_tiles(schedule);
  if (schedule.order == TileOrder::even || schedule.rows_each > 1.0 || schedule.sms > kMostSms) {
    return even_share(schedule);
  }
  if (has_equal_tiles(schedule)) {
    const std::int64_t waves = (tiles + schedule.sms - 1) / schedule.sms;
    return {static_cast<double>(waves), static_cast<double>(waves) * schedule.row_steps[0]};
  }
  if (static_cast<double>(tiles) > kMostTiles) {
    return even_share(schedule);
  }
  const Scheduler scheduler(schedule, tile_clocks, step_clocks);
  return schedule.order == TileOrder::in_turn ? scheduler.in_turn() : scheduler.as_taken();
}

double total_clocks(const TimeModel& model, const TileShare& last) {
  return model.launch_clocks + with_memory(model, clocks_of(model, last));
}

ModelTime model_time(const TimeModel& model) {
  const TileShare most = busiest_share(model.schedule, model.tile_clocks, model.step_clocks);
  const TileShare mean = even_share(model.schedule);
  const double work = clocks_of(model, most);
  const double idle = work - clocks_of(model, mean);
  const double body = with_memory(model, work);
  const double clocks = model.launch_clocks + body;
  const double part = (body > 0.0 ? std::pow(work / body, 2) : 1.0) / clocks;
  return {clocks,
          {1.0, most.tiles * model.tile_clocks * part, model.launch_clocks / clocks, idle * part}};
}

double predicted_us(const TimeFit& fit, const ModelTime& time) {
  double log_us = fit.log_us + fit.log_slope * std::log(time.clocks);
  for (std::size_t i = 0; i < ModelTime::kParts; ++i) {
    log_us += fit.parts[i] * time.parts[i];
  }
  return std::exp(log_us);
}

}  // namespace fatune_attention::detail
