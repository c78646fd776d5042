#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "plan/family.hpp"
#include "runtime/choose.hpp"
#include "tuned/tuned_table.hpp"

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

using ChoiceStep = fatune_attention::Step;
[[nodiscard]] std::string_view choice_step_name(ChoiceStep step);  ///< "exact", "same bucket", ...

/// A row of TunedTable::problems that is relevant to a problem on a device.
using fatune_attention::detail::NearRow;
/// The relevant rows, nearest first: by step, distance, and place in the table.
[[nodiscard]] std::vector<NearRow> near_rows(const TunedTable& table, const Problem& problem,
                                             const DeviceLimits& device);

struct TunedChoice {
  ChoiceStep step = ChoiceStep::refused;
  Config config;
  std::string short_form;            ///< empty: refused
  std::optional<std::size_t> row{};  ///< index of TunedTable::problems; absent: default, or refused
  std::optional<std::size_t> fallback{};  ///< index of TunedTable::defaults
  Distance distance{};                    ///< from the row
  std::string refusal{};                  ///< why none is eligible; else empty
  /// What is unlike all tuned problems (runtime/tuned_range.hpp); empty: the problem is in the
  /// range that was tuned, or refused.
  std::string untuned{};
};

/// Returns why a configuration cannot be used for a problem on a device, or nothing if it can.
using WhyNot =
    std::function<std::optional<std::string>(const Config&, const Problem&, const DeviceLimits&)>;

/// The configuration that an exported library chooses for a problem on a device
/// (runtime/choose.hpp). Precondition: check_problem() passes.
[[nodiscard]] TunedChoice choose_tuned(const TunedTable& table, const Problem& problem,
                                       const DeviceLimits& device, const WhyNot& why_not);

/// Returns a check by the families' own rules: values that the kernel knows, its rules of validity
/// for the problem and the device, and the device's limits. A problem on which an expression fails,
/// such as one that is too large for the arguments, is refused. `families` must outlive the result.
[[nodiscard]] WhyNot families_say(const FamilySet& families);

}  // namespace fatune
