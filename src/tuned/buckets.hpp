#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string_view>

#include "attention/problem.hpp"

namespace fatune {

/// The place of a problem on a GPU among others of its kind, in octaves: logarithms to base 2. The
/// bucket is the nearest integer, so that bucket 12 of a length has 2897 to 5792 in it.
using Coordinates = std::array<double, 7>;
using Buckets = std::array<int, 7>;
inline constexpr std::array<std::string_view, 7> kBucketNames{
    "queries", "keys", "heads_per_sm", "group", "window", "lse", "layout_bhsd"};

/// Lengths of queries and keys; batch * heads / `sm_count`; heads of queries that share one of
/// keys; window (0 without one); then 0 or 1 for lse and layout. Precondition: check_problem()
/// passes, sm_count > 0.
[[nodiscard]] Coordinates coordinates_of(const Problem& problem, int sm_count);
[[nodiscard]] Buckets buckets_of(const Coordinates& coordinates);

/// Whether two problems differ in their coordinates alone: type, head dimensions and the kind of
/// mask are the same.
[[nodiscard]] bool same_kind(const Problem& a, const Problem& b);

/// How far apart two problems are; the octaves decide between equal numbers of buckets.
struct Distance {
  int buckets = 0;
  double octaves = 0.0;

  auto operator<=>(const Distance&) const = default;
};

/// Nothing unless they are neighbours: in no coordinate more than one bucket apart.
[[nodiscard]] std::optional<Distance> neighbour_distance(const Coordinates& a,
                                                         const Coordinates& b);

}  // namespace fatune
