#pragma once

#include <array>
#include <optional>
#include <vector>

#include "measure/memory_plan.hpp"

namespace fatune {

/// A kernel that is slower on new inputs than on inputs that it has seen before, by more than this
/// factor, remembers its answers.
inline constexpr double kRememberingRatio = 1.5;

/// Times of one candidate on inputs that it had not seen before, and on inputs that it had. A
/// kernel that keeps its answers and looks them up is right each time, and slow only on new inputs.
class FirstSights {
 public:
  /// Adds a time on inputs of this set. Precondition: 0 <= set < kInputSets.
  void add(int set, double us);

  /// Whether even the fastest first time on a set is more than kRememberingRatio times the median
  /// of the other times. Clocks that rise while a GPU gets busy look alike, so this is a reason to
  /// look closer and no proof.
  [[nodiscard]] bool suspicious() const;
  /// Notes that the candidate was examined and does not remember. It is never suspicious again.
  void clear() { cleared_ = true; }

 private:
  std::array<std::optional<double>, kInputSets> first_us_;
  std::vector<double> later_us_;
  bool cleared_ = false;
};

}  // namespace fatune
