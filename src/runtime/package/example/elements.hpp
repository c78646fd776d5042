// 16-bit elements, and the contents of the examples' tensors.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attention.hpp"

namespace example {

/// The next number of a random sequence (splitmix64).
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Returns a random number from `least` to `most`, both included.
inline std::int64_t random_between(std::uint64_t& state, std::int64_t least, std::int64_t most) {
  const auto count = static_cast<std::uint64_t>(most - least + 1);
  return least + static_cast<std::int64_t>(next_random(state) % count);
}

inline double decode_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0.0F;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

inline double decode_fp16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const double fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) {
    return fraction == 0.0 ? sign * HUGE_VAL : std::nan("");
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

inline double decode(fatune_attention::DType dtype, std::uint16_t bits) {
  return dtype == fatune_attention::DType::bf16 ? decode_bf16(bits) : decode_fp16(bits);
}

/// The distance from 1 to the next number.
inline double epsilon(fatune_attention::DType dtype) {
  return dtype == fatune_attention::DType::bf16 ? 0x1p-7 : 0x1p-10;
}

/// Encodes a multiple of 1/128 from -1 to 1, times a small power of two. Both types represent it
/// exactly.
inline std::uint16_t encode(fatune_attention::DType dtype, double value) {
  if (dtype == fatune_attention::DType::bf16) {
    const auto narrow = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16);
  }
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // from 0.5 to 1
  const int sign = value < 0.0 ? 0x8000 : 0;
  const int mantissa = static_cast<int>(fraction * 2048.0) & 0x3ff;
  return static_cast<std::uint16_t>(value == 0.0 ? 0 : sign | ((exponent + 14) << 10) | mantissa);
}

/// The elements of a tensor's memory: random numbers that repeat after a prime number of elements,
/// so that rows differ.
class Elements {
 public:
  static constexpr std::size_t kPeriod = 1'000'003;
  static constexpr std::size_t kMostRow = 1024;

  Elements(fatune_attention::DType dtype, double most, std::uint64_t seed) : bits_(kPeriod) {
    for (std::uint16_t& bits : bits_) {
      bits = encode(dtype, most * static_cast<double>(random_between(seed, -128, 128)) / 128.0);
    }
    for (std::size_t i = 0; i < kPeriod + kMostRow; ++i) {
      values_.push_back(decode(dtype, bits_[i % kPeriod]));
    }
  }

  const std::vector<std::uint16_t>& bits() const { return bits_; }
  /// A row of at most kMostRow elements that begins at element `index`.
  const double* row(std::int64_t index) const {
    return values_.data() + static_cast<std::size_t>(index) % kPeriod;
  }

 private:
  std::vector<std::uint16_t> bits_;
  std::vector<double> values_;
};

}  // namespace example
