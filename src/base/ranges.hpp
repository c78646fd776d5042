#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace fatune {

/// True if one of `values`, after `projection`, equals `value`.
template <typename Value, std::ranges::range Values, typename Projection = std::identity>
[[nodiscard]] constexpr bool is_among(const Value& value, const Values& values,
                                      Projection projection = {}) {
  return std::ranges::find(values, value, projection) != std::ranges::end(values);
}

/// The first of `values` that equals `value` after `projection`; null: none.
template <typename Values, typename Value, typename Projection = std::identity>
[[nodiscard]] constexpr auto* find_in(Values&& values, const Value& value,
                                      Projection projection = {}) {
  const auto found = std::ranges::find(values, value, projection);
  return found == std::ranges::end(values) ? nullptr : &*found;
}

/// The value that a map has for a key; null: none.
template <typename Map, typename Key>
[[nodiscard]] auto* value_at(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// Adds all items to the end of a vector.
template <typename Value, typename Items>
void append(std::vector<Value>& to, const Items& items) {
  to.insert(to.end(), std::begin(items), std::end(items));
}

/// Sorts a vector and removes what is there twice.
template <typename Value>
void sort_unique(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Appends the value unless it is among them.
template <typename Value>
void append_new(std::vector<Value>& values, std::type_identity_t<Value> value) {
  if (!is_among(value, values)) {
    values.push_back(std::move(value));
  }
}

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

/// Returns the items for which `holds`, a function or a member, is true.
template <typename Items, typename Holds>
[[nodiscard]] auto filtered(const Items& items, Holds holds) {
  std::vector<std::ranges::range_value_t<const Items&>> some;
  std::ranges::copy_if(items, std::back_inserter(some), holds);
  return some;
}

/// The indices of the items, in order.
template <typename Items>
[[nodiscard]] constexpr auto indices_of(const Items& items) {
  return std::views::iota(std::size_t{0}, std::size(items));
}

/// Returns the greatest of `least` and what `make`, a function or a member, gives for each item.
template <typename Value, typename Items, typename Make>
[[nodiscard]] Value greatest_of(const Items& items, Make make, Value least = {}) {
  for (const auto& item : items) {
    least = std::max<Value>(least, std::invoke(make, item));
  }
  return least;
}

/// Returns the sum of what `make`, a function or a member, gives for each item.
template <typename Value, typename Items, typename Make>
[[nodiscard]] Value sum_of(const Items& items, Make make) {
  Value sum{};
  for (const auto& item : items) {
    sum += std::invoke(make, item);
  }
  return sum;
}

}  // namespace fatune
