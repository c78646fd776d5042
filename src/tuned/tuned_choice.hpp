#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "tuned/buckets.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

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

}  // namespace fatune
