#pragma once

#include <cstdint>

namespace fatune::gpu {

/// Converts the value to the driver's type. Throws Error(too_large), which names the value by
/// `what`, if it is negative or above 2147483647. Internal to src/gpu.
[[nodiscard]] unsigned narrow(std::int64_t value, const char* what);

}  // namespace fatune::gpu
