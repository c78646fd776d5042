#pragma once

#include <compare>
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

/// How a configuration was come to, the surest way first.
enum class ChoiceStep {
  exact,             ///< the problem was tuned on this GPU
  same_bucket,       ///< one of the same buckets was, on this GPU
  neighbour_bucket,  ///< one of a neighbouring bucket was, on this GPU
  same_arch,         ///< one of the same or a neighbouring bucket was, on another GPU of this
                     ///< architecture
  fallback,          ///< none was: the default
  refused,           ///< no configuration is eligible
};
[[nodiscard]] std::string_view choice_step_name(ChoiceStep step);  ///< "exact", "same bucket", ...

/// A row that says something about a problem on a device.
struct NearRow {
  ChoiceStep step = ChoiceStep::refused;
  Distance distance;
  std::size_t row = 0;  ///< of TunedTable::problems

  auto operator<=>(const NearRow&) const = default;
};
/// The nearest first: by step, distance, and place in the table.
[[nodiscard]] std::vector<NearRow> near_rows(const TunedTable& table, const Problem& problem,
                                             const DeviceLimits& device);

struct TunedChoice {
  ChoiceStep step = ChoiceStep::refused;
  Config config;
  std::string short_form;            ///< empty: refused
  std::optional<std::size_t> row{};  ///< of TunedTable::problems; absent: a default, or refused
  std::optional<std::size_t> fallback{};  ///< of TunedTable::defaults
  Distance distance{};                    ///< from the row
  std::string refusal{};                  ///< why none is eligible; else empty
};

/// Why a configuration cannot be used for a problem on a device; nothing when it can.
using WhyNot =
    std::function<std::optional<std::string>(const Config&, const Problem&, const DeviceLimits&)>;

/// The configuration for a problem on a device: that of the first of near_rows(); of a row, the
/// best that is eligible. A row with none is passed over. Without a row a default is taken.
/// Defaults of this GPU stand before those of its architecture and of others; then those for the
/// problem's mask, dtype and head dimensions. Precondition: check_problem() passes.
[[nodiscard]] TunedChoice choose_tuned(const TunedTable& table, const Problem& problem,
                                       const DeviceLimits& device, const WhyNot& why_not);

}  // namespace fatune
