#pragma once

#include <optional>

#include "core/device_limits.hpp"

namespace fatune {

/// Dense 16-bit FLOP that the tensor cores of one SM do per clock at most, by whatever instruction:
/// NVIDIA's peak figures divided by SMs and clock. Nothing: the architecture is not known.
[[nodiscard]] std::optional<double> nominal_tensor_flop_per_clock(Arch arch);

/// As above; for an unknown architecture, the greatest known value.
[[nodiscard]] double peak_tensor_flop_per_clock(Arch arch);

/// FLOP per microsecond of all SMs at the greatest clock; 0 when the limits do not tell.
[[nodiscard]] double peak_tensor_flop_per_us(const DeviceLimits& limits);

}  // namespace fatune
