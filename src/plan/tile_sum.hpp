#pragma once

namespace fatune {

/// The sum over i = 0, 1, ... count - 1 of ceil((first + i * step) / width), each term at least 0
/// and at most `most`: how many tiles of `width` keys a kernel's blocks of queries reach in all,
/// when block i sees the keys before first + i * step.
/// NaN unless all are finite, width is positive, and count is from 0 to 2^24.
[[nodiscard]] double tile_sum(double count, double first, double step, double width, double most);

}  // namespace fatune
