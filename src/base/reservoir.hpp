#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace fatune {

/// Keeps all items or, if there are more than `most`, a random sample of `most` in which each item
/// is equally likely. The same number of items in the same order gives the same sample.
/// Source: J. S. Vitter, Random sampling with a reservoir, ACM Trans. Math. Softw. 11 (1985),
/// algorithm R.
template <typename T>
class Reservoir {
 public:
  explicit Reservoir(std::size_t most) : most_(most) {}

  /// Returns the place for the next item, of an item that it replaces or at the end. Nothing: drop
  /// it.
  [[nodiscard]] std::optional<std::size_t> next_place() {
    const std::uint64_t number = seen_++;
    if (number < most_) {
      return static_cast<std::size_t>(number);
    }
    const std::uint64_t place = std::uniform_int_distribution<std::uint64_t>(0, number)(random_);
    return place < most_ ? std::optional(static_cast<std::size_t>(place)) : std::nullopt;
  }
  /// Puts an item at a place from next_place(). Returns the item that was there.
  std::optional<T> put(std::size_t place, T item) {
    if (place == kept_.size()) {
      kept_.push_back(std::move(item));
      return std::nullopt;
    }
    return std::exchange(kept_[place], std::move(item));
  }
  [[nodiscard]] std::int64_t left_out() const noexcept {
    return static_cast<std::int64_t>(seen_) - static_cast<std::int64_t>(kept_.size());
  }
  [[nodiscard]] std::vector<T> take() { return std::move(kept_); }

 private:
  std::size_t most_;
  std::uint64_t seen_ = 0;
  std::mt19937_64 random_{1};
  std::vector<T> kept_;
};

}  // namespace fatune
