#pragma once

#include <optional>
#include <string>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// A lower bound on the time of every kernel.
struct LeastTime {
  double us = 0.0;         ///< 0: nothing is known
  std::string arithmetic;  ///< how it follows from the problem and the device's figures
};

/// The greater of two times: that of the problem's FLOP (two products for each pair of a query and
/// a key that it sees) at the nominal peak of the device's tensor cores, and that of its tensors at
/// the nominal bandwidth of the device's memory. `flushed`: samples find nothing in the L2. Then
/// all of Q, K and V comes from memory, and as much of the output as fits may stay in the L2.
/// Otherwise as much of all four tensors as the L2 holds may be there.
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

}  // namespace fatune
