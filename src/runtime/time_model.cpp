#include "time_model.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "numbers.hpp"

namespace fatune_attention::detail {
namespace {

constexpr double kMostTiles = 65536.0;
constexpr std::int64_t kMostScheduled = 1024;
constexpr std::int64_t kMostSms = TileShares::kMostSms;

/// The rows that have tiles.
std::int64_t tile_rows(const TileSchedule& schedule) {
  const auto begin = schedule.row_steps.begin();
  return std::count_if(begin, begin + schedule.rows, [](double steps) { return steps > 0.0; });
}

std::int64_t listed_tiles(const TileSchedule& schedule) {
  return schedule.heads * tile_rows(schedule);
}

/// Calls `use(steps, count)` for each run of equal tiles in the order in which tiles are taken.
template <typename Use>
void for_each_run(const TileSchedule& schedule, Use use) {
  double of_run = schedule.row_steps[0];
  std::int64_t count = 0;
  for (std::int64_t first = 0; first < schedule.heads; first += schedule.section_heads) {
    const std::int64_t heads = std::min(schedule.section_heads, schedule.heads - first);
    for (int row = 0; row < schedule.rows; ++row) {
      const double steps = schedule.row_steps[static_cast<std::size_t>(row)];
      if (steps != of_run) {
        use(of_run, count);
        of_run = steps;
        count = 0;
      }
      count += steps > 0.0 ? heads : 0;
    }
  }
  use(of_run, count);
}

TileShare even_share(const TileSchedule& schedule) {
  double steps = 0.0;
  for (int row = 0; row < schedule.rows; ++row) {
    steps += schedule.row_steps[static_cast<std::size_t>(row)];
  }
  const double each =
      static_cast<double>(schedule.heads) * schedule.rows_each / static_cast<double>(schedule.sms);
  return {static_cast<double>(tile_rows(schedule)) * each, steps * each};
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

  TileShares in_turn() const {
    TileShares shares;
    shares.count = static_cast<int>(schedule_.sms);
    std::fill_n(shares.groups.begin(), schedule_.sms, TileShares::Group{{}, 1});
    std::size_t sm = 0;
    for_each_run(schedule_, [&](double steps, std::int64_t count) {
      for (; count > 0; --count) {
        add(shares.groups[sm].share, 1.0, steps);
        sm = sm + 1 < static_cast<std::size_t>(schedule_.sms) ? sm + 1 : 0;
      }
    });
    sort(shares);
    return shares;
  }

  TileShares as_taken() const {
    std::array<Group, kMostSms> groups;
    groups[0] = {0.0, 0, {}, schedule_.sms};
    auto end = groups.begin() + 1;
    std::int64_t before = listed_tiles(schedule_) - kMostScheduled;
    std::int64_t number = 1;
    TileShare shared{};  // of each SM, in tiles that are not scheduled
    for_each_run(schedule_, [&](double steps, std::int64_t count) {
      const std::int64_t evenly = std::clamp<std::int64_t>(before, 0, count);
      before -= count;
      count -= evenly;
      add(shared, static_cast<double>(evenly) / static_cast<double>(schedule_.sms), steps);
      while (count > 0) {
        std::pop_heap(groups.begin(), end);
        Group& next = *(end - 1);
        const Group taking = taken(next, steps, std::min(count, next.sms), number);
        count -= taking.sms;
        number += taking.sms;
        next.sms -= taking.sms;
        if (next.sms > 0) {
          std::push_heap(groups.begin(), end);
          *end++ = taking;
        } else {
          next = taking;
        }
        std::push_heap(groups.begin(), end);
      }
    });
    TileShares shares;
    shares.count = static_cast<int>(end - groups.begin());
    std::transform(groups.begin(), end, shares.groups.begin(), [&](const Group& group) {
      return TileShares::Group{sum(group.share, shared), group.sms};
    });
    sort(shares);
    return shares;
  }

 private:
  /// SMs that have taken the same so far, and when they take their next tile. Of SMs that take one
  /// at the same time, those are first that took the one before first.
  struct Group {
    double clocks;
    std::int64_t number;  ///< of its last tile
    TileShare share;
    std::int64_t sms;

    /// The next group is the greatest.
    bool operator<(const Group& other) const {
      return std::tie(clocks, number) > std::tie(other.clocks, other.number);
    }
  };

  /// `sms` of the group's SMs with a tile more.
  Group taken(Group group, double steps, std::int64_t sms, std::int64_t number) const {
    const double begins = clocks(group.share);
    add(group.share, 1.0, steps);
    group.clocks = schedule_.order == TileOrder::one_ahead ? begins : clocks(group.share);
    group.number = number;
    group.sms = sms;
    return group;
  }
  static void add(TileShare& share, double tiles, double steps) {
    share.tiles += tiles;
    share.steps += tiles * steps;
  }
  static TileShare sum(const TileShare& a, const TileShare& b) {
    return {a.tiles + b.tiles, a.steps + b.steps};
  }
  void sort(TileShares& shares) const {
    std::sort(shares.groups.begin(), shares.groups.begin() + shares.count,
              [&](auto& a, auto& b) { return clocks(a.share) < clocks(b.share); });
  }
  double clocks(const TileShare& share) const {
    return share.tiles * tile_clocks_ + share.steps * step_clocks_;
  }

  const TileSchedule& schedule_;
  double tile_clocks_;
  double step_clocks_;
};

TileShares one_group(const TileSchedule& schedule, const TileShare& share) {
  TileShares shares;
  shares.groups[0] = {share, schedule.sms};
  shares.count = 1;
  return shares;
}

TileShares shares_of_equal(const TileSchedule& schedule) {
  const auto of_waves = [&](std::int64_t waves) {
    const auto tiles = static_cast<double>(waves);
    return TileShare{tiles, tiles * schedule.row_steps[0]};
  };
  const std::int64_t waves = listed_tiles(schedule) / schedule.sms;
  const std::int64_t more = listed_tiles(schedule) % schedule.sms;
  TileShares shares = one_group(schedule, of_waves(waves));
  if (more > 0) {
    shares.groups[0].sms -= more;
    shares.groups[1] = {of_waves(waves + 1), more};
    shares.count = 2;
  }
  return shares;
}

/// The clocks of a part of a launch. `tiles`: where memory does not keep SMs waiting; `memory`:
/// where nothing else takes time.
struct Phase {
  double tiles;
  double memory;

  [[nodiscard]] double clocks() const {
    if (memory <= 0.0) {
      return tiles;
    }
    const double greater = std::max(tiles, memory);
    return greater *
           std::pow(std::pow(tiles / greater, 6) + std::pow(memory / greater, 6), 1 / 6.0);
  }
  /// By how much the clocks of the tiles change those of the phase.
  [[nodiscard]] double change_by_tiles() const {
    return memory <= 0.0 ? 1.0 : std::pow(tiles / clocks(), 5);
  }
};

/// The clocks of an SM's tiles.
double clocks_of(const TimeModel& model, const TileShare& share) {
  return share.tiles * model.tile_clocks + share.steps * model.step_clocks;
}

/// The clocks of a launch's tiles, and by how much those of tiles without their steps change them.
struct Body {
  double clocks = 0.0;
  double of_tiles = 0.0;
};

/// Adds up the phases of a launch. `even`: that of all tiles, if SMs shared them evenly.
Body body_of(const TimeModel& model, const TileShares& shares, const Phase& even) {
  Body body;
  TileShare before{};
  std::int64_t computing = model.schedule.sms;
  for (int i = 0; i < shares.count; ++i) {
    const auto& [share, sms] = shares.groups[static_cast<std::size_t>(i)];
    const double tiles = std::max(0.0, clocks_of(model, share) - clocks_of(model, before));
    const double read = tiles / even.tiles * static_cast<double>(computing) /
                        static_cast<double>(model.schedule.sms);
    const Phase phase{tiles, read * even.memory};
    body.clocks += phase.clocks();
    body.of_tiles += phase.change_by_tiles() * (share.tiles - before.tiles) * model.tile_clocks;
    before = share;
    computing -= sms;
  }
  return body;
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

TileShares tile_shares(const TileSchedule& schedule, double tile_clocks, double step_clocks) {
  const bool are_listed = schedule.rows_each == 1.0 && schedule.sms <= kMostSms;
  if (schedule.order == TileOrder::even || !are_listed) {
    return one_group(schedule, even_share(schedule));
  }
  if (has_equal_tiles(schedule)) {
    return shares_of_equal(schedule);
  }
  if (static_cast<double>(listed_tiles(schedule)) > kMostTiles) {
    return one_group(schedule, even_share(schedule));
  }
  const Scheduler scheduler(schedule, tile_clocks, step_clocks);
  return schedule.order == TileOrder::in_turn ? scheduler.in_turn() : scheduler.as_taken();
}

ModelTime model_time(const TimeModel& model, const TileShares& shares) {
  const Phase even{clocks_of(model, even_share(model.schedule)), model.memory_clocks};
  const Body body = even.tiles > 0.0 ? body_of(model, shares, even) : Body{even.clocks(), 0.0};
  const double clocks = model.launch_clocks + body.clocks;
  return {clocks,
          {1.0, body.of_tiles / clocks, model.launch_clocks / clocks,
           (body.clocks - even.clocks()) / clocks}};
}

ModelTime model_time(const TimeModel& model) {
  return model_time(model, tile_shares(model.schedule, model.tile_clocks, model.step_clocks));
}

double predicted_us(const TimeFit& fit, const ModelTime& time) {
  double log_us = fit.log_us + fit.log_slope * std::log(time.clocks);
  for (std::size_t i = 0; i < ModelTime::kParts; ++i) {
    log_us += fit.parts[i] * time.parts[i];
  }
  return std::exp(log_us);
}

}  // namespace fatune_attention::detail
