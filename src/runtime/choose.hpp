#pragma once

// Chooses a configuration for a problem on a GPU from those that were tuned, and tells whether any
// measured time says something about the problem. Allocates nothing.

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>

#include "kernel_table.hpp"

namespace fatune_attention::detail {

/// The problem whose rows decide about a problem: contiguous sequences of equal lengths. Sequences
/// of a packed problem have as many queries and keys as they have in the mean. Those of a packed
/// problem, and of one in pages, count as lengths of keys that differ, so that no choice is exact.
/// Scales of pages become scales of keys.
Problem problem_of_rows(const Problem& problem);

/// A problem with the layout of its tensors: everything that a choice depends on. The problem is
/// one of problem_of_rows().
struct Wanted {
  const Problem& problem;
  bool layout_bhsd;
  bool has_lengths = false;  ///< each sequence has a number of keys that is not known
};

/// Whether a problem has few queries for its keys, as decoding has: at most 128, each of which sees
/// at least 8 keys for every query. The time of such a problem is that of reading K and V.
bool has_few_queries(const Problem& problem);

/// The position of a problem on a GPU among other problems of its kind, in octaves: the base-2
/// logarithms of the lengths of queries and keys, of batch * heads / SMs, of the number of query
/// heads that share a key head, and of the window (0 without one); then 0 or 1 for lse and for
/// layout bhsd. A bucket is the nearest integer. For example, bucket 12 holds the lengths from 2897
/// to 5792.
///
/// With few queries, the heads of a group are read together, masks hide next to nothing, and the
/// keys that an SM reads decide how they are divided. The first coordinates are then those of the
/// packed rows (queries * heads that share a key head, as the next power of two, at least 8), of
/// the keys that a query sees, and of batch * kv_heads * these keys / SMs; the next two are 0.
using Coordinates = std::array<double, 7>;
using Buckets = std::array<int, 7>;
Coordinates coordinates_of(const Wanted& wanted, int sm_count);
Buckets buckets_of(const Coordinates& coordinates);

KvKind kv_kind_of(const Problem& problem);
Kind kind_of(const Problem& problem);
/// The kind of machine code for a kind of problems: masks often are arguments.
Kind without_masks(Kind kind);

/// Whether two problems are the same for a kernel's time. The softmax scale, which is an argument,
/// does not count. Only this tells a problem whose lengths of keys differ from the one in which
/// each sequence has seq_len_kv keys: rows have no lengths, so a choice for lengths is never exact.
bool same_work(const Wanted& a, const Wanted& b);

/// The distance between two problems. The octaves decide between equal numbers of buckets.
struct Distance {
  int buckets = 0;
  double octaves = 0.0;
};
bool operator<(const Distance& a, const Distance& b);

/// The distance of a problem from a row of its kind, and whether they are neighbours: at most one
/// bucket apart in each coordinate. With few queries, a row of half as many packed rows counts as
/// two buckets apart, because its kernels would read K and V twice.
struct Nearness {
  Distance distance;
  bool neighbours = true;
};
Nearness nearness(const Coordinates& row, const Coordinates& wanted, bool few_queries);

/// A row of the table that says something about a problem on a GPU.
struct NearRow {
  Step step = Step::refused;
  Distance distance;
  bool other_gpu = false;
  int row = -1;
  bool other_packed_rows = false;  ///< of few queries: more or fewer; does not count in the order
};
bool operator<(const NearRow& a, const NearRow& b);  ///< by the other members in order

/// Returns the nearest row after `last`, or the nearest of all if `last` is null.
std::optional<NearRow> next_near_row(const Table& table, const Wanted& wanted, const TunedGpu& gpu,
                                     const NearRow* last);

/// Returns the row of the problem itself on this GPU. That of a problem with lengths, which is no
/// exact one, has in each sequence all keys that there is room for. With few queries, lengths
/// decide how long which parts take, so that a problem of unknown lengths has no row of its own.
std::optional<NearRow> own_row(const Table& table, const Wanted& wanted, const TunedGpu& gpu);

/// The place of a default in the order in which defaults are tried: those of the problem's
/// kv_kind_of(). Defaults for few queries, or
/// for more, as the problem has them, come first; of these, defaults of this GPU before those of
/// its architecture, and these before those of other architectures. Among these, defaults that
/// differ least in mask, type and head dimensions come first.
struct DefaultPlace {
  bool other_queries = false;
  int other_gpu = 0;
  int differences = 0;
  int index = -1;
};
std::optional<DefaultPlace> next_default(const Table& table, const Problem& problem,
                                         const TunedGpu& gpu, const DefaultPlace* last);

/// The configurations with the least predicted times, the least first. Of those that share a fit,
/// it has the fastest three: where their parts differ little, others would have no place. Of
/// configurations that do the same on the problem, it has the first: they share a fit, and no part
/// ends within the keys.
class FastestPredicted {
 public:
  static constexpr int kMost = kMostCandidates;
  static constexpr int kMostAlike = 3;
  static constexpr double kFarBehind = 0.3;  ///< as a share of the least time
  static constexpr int kOfAnotherGpu = 2;
  struct Item {
    int configuration = -1;
    double us = 0.0;  ///< on the GPU whose times predict it
    int like = -1;    ///< FitKey::like
  };

  /// Whether add() would add it.
  [[nodiscard]] bool has_place_for(const Item& item) const;
  void add(const Item& item);
  [[nodiscard]] int count() const { return count_; }
  /// Keeps those that may be the fastest, although the first is predicted to be: those with times
  /// that are predicted to be at most kFarBehind longer.
  void keep_near();
  /// Adds the first kOfAnotherGpu of those that another GPU's times predict and that are not among
  /// these, from place_of_others() on.
  void append(const FastestPredicted& others);
  /// Behind these or, where there are many, the place of the first of the last kOfAnotherGpu.
  [[nodiscard]] int place_of_others() const { return std::min(count_, kMost - kOfAnotherGpu); }
  [[nodiscard]] const Item& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }

 private:
  /// The place of the slowest of those that share the item's fit, if they are kMostAlike; else -1.
  [[nodiscard]] int place_of_slowest_alike(const Item& item) const;
  /// Whether it is among the first `count`.
  [[nodiscard]] bool has(int configuration, int count) const;

  std::array<Item, kMost> items_;
  int count_ = 0;
};

struct Choice {
  Step step = Step::refused;
  int configuration = -1;
  int row = -1;                ///< -1: none made the choice
  int fallback = -1;           ///< index of the default; -1: none
  int place = -1;              ///< among the row's configurations
  Distance distance;           ///< from the row; if it was predicted, from the nearest one
  double predicted_us = 0.0;   ///< 0: it was not predicted
  int predicting_gpu = -1;     ///< index of the GPU whose times predicted it; -1: it was not
  FastestPredicted fastest{};  ///< to be tried, the choice first; none, if it was not predicted
};

/// Chooses the best eligible configuration of a row. `eligible(configuration)` says whether a
/// configuration can be used.
template <typename Eligible>
Choice best_of_row(const Table& table, const NearRow& near, Eligible& eligible) {
  const Row& row = table.rows[near.row];
  for (int place = 0; place < row.config_count; ++place) {
    if (eligible(row.configs[place].configuration)) {
      return {near.step, row.configs[place].configuration, near.row, -1, place, near.distance};
    }
  }
  return {};
}

/// The rows of a GPU and of the problem's kind that are nearest to it. With few queries, those with
/// other packed rows come behind: configurations for these compute too many rows, or load keys more
/// than once.
class NearestRows {
 public:
  /// Precondition: the GPU has rows of the problem's kind.
  NearestRows(const Table& table, const Wanted& wanted, int gpu);
  /// Whether they have times of configurations that share the configuration's fit, and of some that
  /// are equal to it in what fits do not tell apart, and the nearest few those of its family. Its
  /// own time may be on none of them.
  [[nodiscard]] bool have(int configuration) const;
  /// Whether the winner of the nearest one has a fit. If it has none, others may be faster than
  /// what is predicted.
  [[nodiscard]] bool nearest_winner_has_fit() const;
  /// Whether the winner of the nearest one is of the configuration's family.
  [[nodiscard]] bool have_winner_like(int configuration) const;
  /// The nearest one, as if the problem were on their GPU.
  [[nodiscard]] const NearRow& nearest() const { return nearest_; }
  /// The index of their GPU.
  [[nodiscard]] int gpu() const { return gpu_; }

 private:
  static constexpr int kMost = 20;
  /// So many nearest ones say which families are among the fastest. Of a family that only farther
  /// ones have, it is not known how fast it is here.
  static constexpr int kOfFamilies = 5;
  static constexpr std::size_t kMostKeys = 4096;
  using Keys = std::bitset<kMostKeys>;  ///< of FitKey; what is beyond is not among the fastest

  void add_keys(const NearRow& near, bool of_families);
  [[nodiscard]] const FitKey& key_of_nearest_winner() const;

  const Table* table_;
  int gpu_;
  std::array<NearRow, kMost> rows_;
  int count_ = 0;
  Keys likes_;
  Keys rests_;
  Keys families_;
  NearRow nearest_;  ///< of all, whatever its packed rows
};

/// The rows whose measured times predict that of a problem on `gpu`: those of this GPU if one of
/// them is a neighbour, else those of the GPU of its architecture that has the nearest one. Returns
/// nothing if no GPU has times of the problem's kind, or the winner of the nearest row has no fit.
std::optional<NearestRows> predicting_rows(const Table& table, const Wanted& wanted,
                                           const TunedGpu& gpu);
/// Those of the nearest other GPU of the architecture, likewise. gpu: the index of the first one
std::optional<NearestRows> other_predicting_rows(const Table& table, const Wanted& wanted, int gpu);

/// Calls `use(configuration, us)` for each configuration whose time on the problem these rows
/// predict: those that combine what is among the fastest on the nearest rows (NearestRows::have()),
/// and are not far longer than what was measured of their family (TimeFit::most_clocks), unless it
/// won the nearest row.
/// Of others, which may have been slow there, a model that is a little wrong would choose some.
/// `find_time(configuration, time)` returns whether the configuration's family has a model, which
/// it evaluates; it may leave out configurations that cannot be used.
template <typename FindTime, typename Use>
void for_each_predicted(const Table& table, const Problem& problem, const NearestRows& nearest,
                        FindTime& find_time, Use use) {
  const Kind kind = kind_of(problem);
  for (int i = 0; i < table.fits.count; ++i) {
    const Fit& fit = table.fits[i];
    ModelTime time;
    if (fit.gpu == nearest.gpu() && fit.kind == kind && nearest.have(fit.configuration) &&
        find_time(fit.configuration, time) &&
        (time.clocks <= fit.time.most_clocks || nearest.have_winner_like(fit.configuration))) {
      use(fit.configuration, predicted_us(fit.time, time));
    }
  }
}

/// Returns the configurations with the least times that these rows predict, of those that may be
/// the fastest. Asks whether a configuration can be used only if it would be among them.
template <typename Eligible, typename FindTime>
FastestPredicted fastest_predicted(const Table& table, const Problem& problem,
                                   const NearestRows& nearest, Eligible& eligible,
                                   FindTime& find_time) {
  FastestPredicted fastest;
  for_each_predicted(table, problem, nearest, find_time, [&](int configuration, double us) {
    const FastestPredicted::Item item{configuration, us, table.fit_keys[configuration].like};
    if (fastest.has_place_for(item) && eligible(configuration)) {
      fastest.add(item);
    }
  });
  fastest.keep_near();
  return fastest;
}

/// Chooses the configuration with the least predicted time. Of those to be tried, the last are what
/// another GPU's times predict: where the first one's rows are few, these know others. most: as
/// choose() has it
template <typename Eligible, typename FindTime>
Choice choose_predicted(const Table& table, const Wanted& wanted, const TunedGpu& gpu,
                        Eligible& eligible, FindTime& find_time, int most) {
  Choice choice;
  if (const std::optional<NearestRows> nearest = predicting_rows(table, wanted, gpu)) {
    choice.fastest = fastest_predicted(table, wanted.problem, *nearest, eligible, find_time);
    if (choice.fastest.count() > 0) {
      choice.step = Step::predicted;
      choice.configuration = choice.fastest[0].configuration;
      choice.predicted_us = choice.fastest[0].us;
      choice.distance = nearest->nearest().distance;
      choice.predicting_gpu = nearest->gpu();
      const auto others = most > choice.fastest.place_of_others()
                              ? other_predicting_rows(table, wanted, nearest->gpu())
                              : std::nullopt;
      if (others) {
        choice.fastest.append(
            fastest_predicted(table, wanted.problem, *others, eligible, find_time));
      }
    }
  }
  return choice;
}

/// Chooses the best eligible configuration of the problem's own row, else the one with the least
/// predicted time, else the best one of the nearest row. Rows without an eligible configuration are
/// skipped. If there is no row, a default is chosen. most: how many configurations will be tried at
/// most; Choice::fastest may lack those behind
template <typename Eligible, typename FindTime>
Choice choose(const Table& table, const Wanted& wanted, const TunedGpu& gpu, Eligible eligible,
              FindTime find_time, int most = FastestPredicted::kMost) {
  Choice choice;
  std::optional<NearRow> near = own_row(table, wanted, gpu);
  if (near) {
    choice = best_of_row(table, *near, eligible);
  }
  if (choice.configuration < 0) {
    choice = choose_predicted(table, wanted, gpu, eligible, find_time, most);
  }
  while (choice.configuration < 0 &&
         (near = next_near_row(table, wanted, gpu, near ? &*near : nullptr))) {
    choice = best_of_row(table, *near, eligible);
  }
  std::optional<DefaultPlace> fallback;
  while (choice.configuration < 0 &&
         (fallback = next_default(table, wanted.problem, gpu, fallback ? &*fallback : nullptr))) {
    const int configuration = table.defaults[fallback->index].configuration;
    if (eligible(configuration)) {
      choice = {Step::fallback, configuration, -1, fallback->index, -1, {}};
    }
  }
  return choice;
}

/// Says how a problem differs from all rows that could speak for it: those of the GPU's
/// architecture and of the problem's kind. Each of the numbers that kNumbers of choose.cpp
/// lists must be in a bucket between the least and the greatest of these rows, and `step`, which
/// chose the configuration, must have found a row. Empty for Step::refused, which has a reason of
/// its own.
Untuned untuned(const Table& table, const Wanted& wanted, const TunedGpu& gpu, Step step);

}  // namespace fatune_attention::detail
