// Which configuration is chosen for a problem on a GPU, from those that were tuned. Allocates
// nothing.
#pragma once

#include <array>
#include <optional>

#include "kernel_table.hpp"

namespace fatune_attention::detail {

/// A problem with the layout of its tensors: all that a choice rests on.
struct Wanted {
  const Problem& problem;
  bool layout_bhsd;
};

/// The place of a problem on a GPU among others of its kind, in octaves: logarithms to base 2 of
/// the lengths of queries and keys, batch * heads / SMs, heads of queries that share one of keys,
/// and the window (0 without one); then 0 or 1 for lse and for layout bhsd. The bucket is the
/// nearest integer, so that bucket 12 of a length has 2897 to 5792 in it.
using Coordinates = std::array<double, 7>;
using Buckets = std::array<int, 7>;
Coordinates coordinates_of(const Wanted& wanted, int sm_count);
Buckets buckets_of(const Coordinates& coordinates);

/// Whether two problems differ in their coordinates alone: type, head dimensions and the kind of
/// mask are the same.
bool same_kind(const Problem& a, const Problem& b);

/// Whether two problems are the same to a kernel's time: the scale of the scores is an argument.
bool same_work(const Wanted& a, const Wanted& b);

/// How far apart two problems are; the octaves decide between equal numbers of buckets.
struct Distance {
  int buckets = 0;
  double octaves = 0.0;
};
bool operator==(const Distance& a, const Distance& b);
bool operator<(const Distance& a, const Distance& b);

/// Nothing unless they are neighbours: in no coordinate more than one bucket apart.
std::optional<Distance> neighbour_distance(const Coordinates& a, const Coordinates& b);

/// A row that says something about a problem on a GPU.
struct NearRow {
  Step step = Step::refused;
  Distance distance;
  int row = -1;
};
bool operator<(const NearRow& a, const NearRow& b);  ///< by step, distance, place in the table

/// The nearest row behind `last`; the nearest of all when that is null.
std::optional<NearRow> next_near_row(const Table& table, const Wanted& wanted, const TunedGpu& gpu,
                                     const NearRow* last);

/// The place of a default in the order in which defaults are tried. Those of this GPU stand before
/// those of its architecture and of others; then those that differ least in mask, type and head
/// dimensions.
struct DefaultPlace {
  int other_gpu = 0;
  int differences = 0;
  int index = -1;
};
std::optional<DefaultPlace> next_default(const Table& table, const Problem& problem,
                                         const TunedGpu& gpu, const DefaultPlace* last);

struct Choice {
  Step step = Step::refused;
  int configuration = -1;
  int row = -1;       ///< -1: a default, or refused
  int fallback = -1;  ///< of the defaults; -1: none
  int place = -1;     ///< among the row's configurations
  Distance distance;  ///< from the row
};

/// The configuration of the nearest row; of a row, the best that is eligible. A row with none is
/// passed over. Without a row a default is taken. `eligible(configuration)` says whether it can be
/// used.
template <typename Eligible>
Choice choose(const Table& table, const Wanted& wanted, const TunedGpu& gpu, Eligible eligible) {
  std::optional<NearRow> near = next_near_row(table, wanted, gpu, nullptr);
  for (; near; near = next_near_row(table, wanted, gpu, &*near)) {
    const Row& row = table.rows[near->row];
    for (int place = 0; place < row.config_count; ++place) {
      if (eligible(row.configs[place].configuration)) {
        return {near->step, row.configs[place].configuration, near->row, -1, place, near->distance};
      }
    }
  }
  std::optional<DefaultPlace> fallback = next_default(table, wanted.problem, gpu, nullptr);
  for (; fallback; fallback = next_default(table, wanted.problem, gpu, &*fallback)) {
    const int configuration = table.defaults[fallback->index].configuration;
    if (eligible(configuration)) {
      return {Step::fallback, configuration, -1, fallback->index, -1, {}};
    }
  }
  return {};
}

}  // namespace fatune_attention::detail
