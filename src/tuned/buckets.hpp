#pragma once

#include <array>
#include <string_view>

#include "attention/problem.hpp"
#include "runtime/choose.hpp"

namespace fatune {

using fatune_attention::detail::Buckets;
using fatune_attention::detail::buckets_of;
using fatune_attention::detail::Coordinates;
using fatune_attention::detail::Distance;
using fatune_attention::detail::neighbour_distance;

inline constexpr std::array<std::string_view, 7> kBucketNames{
    "queries", "keys", "heads_per_sm", "group", "window", "lse", "layout_bhsd"};

/// See runtime/choose.hpp. Precondition: check_problem() passes, sm_count > 0.
[[nodiscard]] Coordinates coordinates_of(const Problem& problem, int sm_count);

}  // namespace fatune
