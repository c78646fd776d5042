#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "counters/counter_fields.hpp"

namespace fatune {

/// A figure's value; nothing if one of its metrics was not read, or it divides by zero.
[[nodiscard]] std::optional<double> derive(const CounterField& field, const RawCounters& raw);

/// The values of the figures, averaged over the runs that have them, by name and in the order of
/// `fields`. Figures without a value are left out.
[[nodiscard]] std::vector<std::pair<std::string, double>> derive_averages(
    std::span<const CounterField> fields, std::span<const RawCounters> runs);

}  // namespace fatune
