#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "measure/memory_plan.hpp"
#include "model/device_limits.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// A lower bound on the time of every kernel.
struct LeastTime {
  double us = 0.0;         ///< 0: nothing is known
  std::string arithmetic;  ///< how it follows from the problem and the device's figures
};

/// The greater of two times: that of the problem's FLOP (two products for each pair of a query and
/// a key that it sees) at the nominal peak of the device's tensor cores, and that of its tensors at
/// the nominal bandwidth of the device's memory. `flushed`: samples find nothing in the L2. Then
/// all of Q, K and V that is needed comes from memory, and as much of O and the log-sum-exps as
/// fits may stay in the L2. Otherwise as much of all tensors as the L2 holds may be there.
[[nodiscard]] LeastTime least_time(const Problem& problem, const DeviceLimits& limits,
                                   bool flushed);

/// The shortest run whose mean clock is known. The timer that the clock is computed from may
/// advance in steps of a microsecond.
inline constexpr double kLeastClockedUs = 500.0;

/// Whether every kernel's time follows the SM clock and that clock is known for each run: the
/// arithmetic takes at least kLeastClockedUs, and at least as long as the memory.
[[nodiscard]] bool follows_clock(const Problem& problem, const DeviceLimits& limits, bool flushed);

/// The outcome of a sample that took less than `least`, or a time that no kernel takes. Empty: it
/// did not.
[[nodiscard]] std::optional<Implausible> find_implausible(double sample_us, const LeastTime& least);

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
