#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace fatune {

/// Keeps everything that it is given, or of more than `most` a random sample of `most`: each is as
/// likely to be in it. The same order and number give the same sample.
/// Source: J. S. Vitter, Random sampling with a reservoir, ACM Trans. Math. Softw. 11 (1985),
/// algorithm R.
template <typename T>
class Reservoir {
 public:
  explicit Reservoir(std::size_t most) : most_(most) {}

  /// Where the next one is kept, in the place of another or behind them; nothing: it is not.
  [[nodiscard]] std::optional<std::size_t> next_place() {
    const std::uint64_t number = seen_++;
    if (number < most_) {
      return static_cast<std::size_t>(number);
    }
    const std::uint64_t place = std::uniform_int_distribution<std::uint64_t>(0, number)(random_);
    return place < most_ ? std::optional(static_cast<std::size_t>(place)) : std::nullopt;
  }
  /// `place`: of next_place(). Returns what was there.
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
