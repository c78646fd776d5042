#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace fatune {

/// Returns what `make`, a function or a member, gives for each item.
template <typename Items, typename Make>
[[nodiscard]] auto mapped(const Items& items, Make make) {
  using Made = std::invoke_result_t<Make&, decltype(*std::begin(items))>;
  std::vector<std::remove_cvref_t<Made>> all;
  for (const auto& item : items) {
    all.push_back(std::invoke(make, item));
  }
  return all;
}

}  // namespace fatune
