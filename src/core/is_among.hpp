#pragma once

#include <algorithm>
#include <iterator>

namespace fatune {

/// Whether one of `values` equals `value`.
template <typename Value, typename Values>
[[nodiscard]] constexpr bool is_among(const Value& value, const Values& values) {
  return std::find(std::begin(values), std::end(values), value) != std::end(values);
}

}  // namespace fatune
