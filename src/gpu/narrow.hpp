#pragma once

#include <cstdint>

namespace fatune::gpu {

/// The value as the driver takes it. Throws Error(too_large), which says what it is of, when it is
/// negative or beyond 2147483647. Internal to src/gpu.
[[nodiscard]] unsigned narrow(std::int64_t value, const char* what);

}  // namespace fatune::gpu
