#pragma once

#include <cstdint>

namespace fatune {

/// A length that no tile divides, and that is longer than a tile of 64.
inline constexpr std::int64_t kRaggedSeqLen = 101;

}  // namespace fatune
