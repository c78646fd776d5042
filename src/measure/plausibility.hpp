#pragma once

#include <optional>
#include <string>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// The time below which no kernel can be.
struct LeastTime {
  double us = 0.0;         ///< 0: nothing is known
  std::string arithmetic;  ///< how it follows from the problem and the device's figures
};

/// The greater of two times: of the problem's FLOP (two products for each pair of a query and a key
/// that it sees) at the nominal peak of the device's tensor cores, and of its tensors at the
/// nominal bandwidth of the device's memory. `flushed`: samples find nothing in the L2, so that Q,
/// K and V come from memory whole; what of the output fits the L2 may stay there. Otherwise as much
/// of all four as the L2 holds may be there.
[[nodiscard]] LeastTime least_time(const Problem& problem, const DeviceLimits& limits,
                                   bool flushed);

/// The shortest run whose mean clock is known: the clock by which it is found out may advance in
/// steps of a microsecond.
inline constexpr double kLeastClockedUs = 500.0;

/// Whether every kernel's time follows the clock of the SMs, and that clock is known of each run:
/// the arithmetic takes at least kLeastClockedUs, and longer than the memory.
[[nodiscard]] bool follows_clock(const Problem& problem, const DeviceLimits& limits, bool flushed);

/// The outcome of a sample that took less.
[[nodiscard]] std::optional<Implausible> find_implausible(double sample_us, const LeastTime& least);

}  // namespace fatune
