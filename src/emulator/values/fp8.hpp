#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// 8-bit floating point: PTX ISA 9.0, section 5.2.3. .e5m2 is the upper byte of a half. .e4m3 has
// numbers where other formats have infinities, and one NaN of either sign.
namespace fatune::emulate {

enum class Fp8 : std::uint8_t { e4m3, e5m2 };

/// The half with the value of an .e4m3. All of them are halves, too.
constexpr std::uint16_t half_of_e4m3(std::uint8_t bits) {
  constexpr std::uint32_t kMagnitude = 0x7f;
  constexpr std::uint32_t kLeastNormal = 8;
  constexpr std::uint32_t kBiases = 8;  // the biases differ by 8
  const std::uint32_t sign = (bits & 0x80U) << 8U;
  const std::uint32_t magnitude = bits & kMagnitude;
  if (magnitude == kMagnitude) {
    return static_cast<std::uint16_t>(sign | 0x7fffU);
  }
  if (magnitude >= kLeastNormal) {
    return static_cast<std::uint16_t>(sign | ((magnitude << 7U) + (kBiases << 10U)));
  }
  // A multiple of 2^-9, of `width` bits. The shift makes the first of them add 1 to the exponent.
  const auto width = static_cast<std::uint32_t>(std::bit_width(magnitude));
  const std::uint32_t normal = ((width + 4) << 10U) + (magnitude << (11 - width));
  return static_cast<std::uint16_t>(sign | (magnitude == 0 ? 0 : normal));
}

inline constexpr auto kHalvesOfE4m3 = [] {
  std::array<std::uint16_t, 256> halves{};
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = half_of_e4m3(static_cast<std::uint8_t>(i));
  }
  return halves;
}();

/// The half with the same value.
inline std::uint16_t half_of(std::uint8_t bits, Fp8 format) {
  return format == Fp8::e4m3 ? kHalvesOfE4m3[bits] : static_cast<std::uint16_t>(bits << 8U);
}

/// Rounds to nearest, ties to even, but never to infinity (.satfinite).
[[nodiscard]] std::uint8_t to_fp8(double value, Fp8 format);

}  // namespace fatune::emulate
