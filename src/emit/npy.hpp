#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fatune {

/// The bytes of a .npy file (version 1.0), which numpy.load() reads: little-endian, C order.
/// shape: the product of `extents` is values.size()
/// source: NumPy, "NEP 1: a simple file format for NumPy arrays"
[[nodiscard]] std::string npy_float64(const std::vector<std::int64_t>& extents,
                                      std::span<const double> values);
/// Like npy_float64(), but with fp32 values: exact for values that were fp32 or narrower.
[[nodiscard]] std::string npy_float32(const std::vector<std::int64_t>& extents,
                                      std::span<const double> values);

}  // namespace fatune
