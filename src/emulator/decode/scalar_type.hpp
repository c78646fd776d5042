#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fatune::emulate {

/// The fundamental types of PTX (ISA 9.0, section 5.2) that operations name.
enum class ScalarType : std::uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  u16x2,
  s16x2,
  e4m3x2,
  e5m2x2,
};

/// The type with a name such as "u32". Empty for other names.
[[nodiscard]] std::optional<ScalarType> scalar_type(std::string_view name);

/// The bytes of a value in memory; 0 for a predicate.
[[nodiscard]] int size_of(ScalarType type);
[[nodiscard]] bool is_signed(ScalarType type);
[[nodiscard]] bool is_integer(ScalarType type);
[[nodiscard]] bool is_float(ScalarType type);
/// True for f16, f16x2, bf16, bf16x2.
[[nodiscard]] bool is_half(ScalarType type);

/// The bits of a PTX constant as a value of the type: "-16", "0x1f", "0U", "0b101", "0f3F800000"
/// (the bits of a float), "0d3FF0000000000000", "1.5". Empty if the text is not a constant.
[[nodiscard]] std::optional<std::uint64_t> literal_bits(std::string_view text, ScalarType type);

}  // namespace fatune::emulate
