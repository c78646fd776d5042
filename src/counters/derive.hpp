#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "counters/counter_field.hpp"

namespace fatune {

/// A figure's value; nothing when a metric of it was not read, or it divides by zero.
[[nodiscard]] std::optional<double> derive(const CounterField& field, const RawCounters& raw);

/// The values of those figures that there are, averaged over the runs in which they are, by name
/// and in the order of `fields`.
[[nodiscard]] std::vector<std::pair<std::string, double>> derive_averages(
    std::span<const CounterField> fields, std::span<const RawCounters> runs);

}  // namespace fatune
