#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fatune::emulate {

/// PTX's fundamental types (ISA 9.0, section 5.2), as far as operations name them.
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

/// "u32" and so on; nothing for anything else.
[[nodiscard]] std::optional<ScalarType> scalar_type(std::string_view name);

/// Bytes of a value in memory. A predicate has none (0).
[[nodiscard]] int size_of(ScalarType type);
[[nodiscard]] bool is_signed(ScalarType type);
[[nodiscard]] bool is_integer(ScalarType type);
[[nodiscard]] bool is_float(ScalarType type);
/// f16, f16x2, bf16, bf16x2.
[[nodiscard]] bool is_half(ScalarType type);

}  // namespace fatune::emulate
