#pragma once

#include <algorithm>
#include <functional>
#include <ranges>

namespace fatune {

/// True if one of `values`, after `projection`, equals `value`.
template <typename Value, std::ranges::range Values, typename Projection = std::identity>
[[nodiscard]] constexpr bool is_among(const Value& value, const Values& values,
                                      Projection projection = {}) {
  return std::ranges::find(values, value, projection) != std::ranges::end(values);
}

}  // namespace fatune
