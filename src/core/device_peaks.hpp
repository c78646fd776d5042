#pragma once

#include <optional>

#include "core/device_limits.hpp"

namespace fatune {

/// The peak dense 16-bit FLOP per clock of one SM's tensor cores, with any instruction: NVIDIA's
/// peak figures divided by SMs and clock. Nothing if the architecture is not known.
[[nodiscard]] std::optional<double> nominal_tensor_flop_per_clock(Arch arch);

/// nominal_tensor_flop_per_clock(), or its greatest known value for an unknown architecture.
[[nodiscard]] double peak_tensor_flop_per_clock(Arch arch);

/// The peak FLOP per microsecond of all SMs at the greatest clock; 0 if the limits do not tell.
[[nodiscard]] double peak_tensor_flop_per_us(const DeviceLimits& limits);

}  // namespace fatune
