#pragma once

#include <optional>

#include "core/device_limits.hpp"
#include "study/others.hpp"

namespace fatune {

/// Reads how other implementations of attention did beside the winners that fatune ships for this
/// GPU model (configs/peers). Nothing if it ships no such file.
[[nodiscard]] std::optional<PeerStudy> known_peers(const DeviceLimits& device);

}  // namespace fatune
