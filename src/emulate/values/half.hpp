#pragma once

#include <bit>
#include <cstdint>

// Conversions between the bits of 16-bit floating point and single precision.
namespace fatune::emulate {

inline float from_half(std::uint16_t bits) {
  // The shifted bits are a float with 13 more fraction bits and an exponent that is 112 too small.
  // Multiplying by 2^112 corrects it, also for subnormals.
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fffU) << 13U;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x0f800000U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign | special);
}

inline float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// Rounds to nearest, ties to even.
inline std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    return 0x7fff;  // the NaN that cvt returns
  }
  if (magnitude >= 0x477ff000U) {  // 65520 and above
    return sign | 0x7c00U;
  }
  if (magnitude < 0x38800000U) {  // below the least normal number: the addition rounds
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000U));
  }
  const std::uint32_t odd = magnitude >> 13U & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13U));
}

/// Rounds to nearest, ties to even.
inline std::uint16_t to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return 0x7fff;
  }
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

}  // namespace fatune::emulate
