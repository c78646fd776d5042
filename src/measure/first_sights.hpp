#pragma once

#include <array>
#include <optional>
#include <vector>

#include "measure/memory_plan.hpp"

namespace fatune {

/// Slower than this, over the time on inputs that it has seen before, is a kernel that remembers.
inline constexpr double kRememberingRatio = 1.5;

/// Times of one candidate on inputs that it had not seen before, and on those that it had: a kernel
/// that keeps its answers, and looks them up, is right each time, and slow on the first alone.
class FirstSights {
 public:
  /// A time on inputs of this set. Precondition: 0 <= set < kInputSets.
  void add(int set, double us);

  /// Even the fastest first time on a set is more than kRememberingRatio times the median of the
  /// others. Clocks that rise while a GPU gets busy look alike: a reason to look closer, no proof.
  [[nodiscard]] bool suspicious() const;
  /// It was looked at, and does not remember: nothing is suspicious any more.
  void clear() { cleared_ = true; }

 private:
  std::array<std::optional<double>, kInputSets> first_us_;
  std::vector<double> later_us_;
  bool cleared_ = false;
};

}  // namespace fatune
