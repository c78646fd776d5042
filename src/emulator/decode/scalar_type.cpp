#include "emulator/decode/scalar_type.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/text_parts.hpp"

namespace fatune::emulate {
namespace {

struct TypeFacts {
  std::string_view name;
  ScalarType type;
  int bytes;
};

using enum ScalarType;
constexpr std::array kTypes{
    TypeFacts{"pred", pred, 0},     TypeFacts{"b8", b8, 1},       TypeFacts{"b16", b16, 2},
    TypeFacts{"b32", b32, 4},       TypeFacts{"b64", b64, 8},     TypeFacts{"b128", b128, 16},
    TypeFacts{"u8", u8, 1},         TypeFacts{"u16", u16, 2},     TypeFacts{"u32", u32, 4},
    TypeFacts{"u64", u64, 8},       TypeFacts{"s8", s8, 1},       TypeFacts{"s16", s16, 2},
    TypeFacts{"s32", s32, 4},       TypeFacts{"s64", s64, 8},     TypeFacts{"f16", f16, 2},
    TypeFacts{"f16x2", f16x2, 4},   TypeFacts{"bf16", bf16, 2},   TypeFacts{"bf16x2", bf16x2, 4},
    TypeFacts{"tf32", tf32, 4},     TypeFacts{"f32", f32, 4},     TypeFacts{"f64", f64, 8},
    TypeFacts{"u16x2", u16x2, 4},   TypeFacts{"s16x2", s16x2, 4}, TypeFacts{"e4m3x2", e4m3x2, 2},
    TypeFacts{"e5m2x2", e5m2x2, 2},
};

std::optional<std::uint64_t> float_bits(double value, ScalarType type) {
  return type == ScalarType::f32
             ? std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))}
             : std::bit_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> integer_bits(std::string_view text) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  if (text.ends_with('U')) {
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    base = 2;
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  const auto value =
      whole_number<std::uint64_t>(text.substr(base == 16 || base == 2 ? 2 : 0), base);
  return value ? std::optional(negative ? ~*value + 1 : *value) : std::nullopt;
}

}  // namespace

std::optional<ScalarType> scalar_type(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name, &TypeFacts::name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

int size_of(ScalarType type) { return std::ranges::find(kTypes, type, &TypeFacts::type)->bytes; }

bool is_signed(ScalarType type) { return type == s8 || type == s16 || type == s32 || type == s64; }

bool is_integer(ScalarType type) { return type >= u8 && type <= s64; }

bool is_float(ScalarType type) { return type >= f16 && type <= f64; }

bool is_half(ScalarType type) { return type >= f16 && type <= bf16x2; }

std::optional<std::uint64_t> literal_bits(std::string_view text, ScalarType type) {
  const std::string_view prefix = text.substr(0, 2);
  if (prefix == "0f" || prefix == "0F") {
    const auto bits = whole_number<std::uint32_t>(text.substr(2), 16);
    if (bits && type == ScalarType::f64) {
      return float_bits(static_cast<double>(std::bit_cast<float>(*bits)), type);
    }
    return bits;
  }
  if (prefix == "0d" || prefix == "0D") {
    const auto bits = whole_number<std::uint64_t>(text.substr(2), 16);
    return bits && type == ScalarType::f32 ? float_bits(std::bit_cast<double>(*bits), type) : bits;
  }
  if (const auto integer = integer_bits(text)) {
    const bool is_float = type == ScalarType::f32 || type == ScalarType::f64;
    return is_float ? float_bits(static_cast<double>(static_cast<std::int64_t>(*integer)), type)
                    : integer;
  }
  const auto value = whole_number<double>(text);
  return value && text.find('.') != std::string_view::npos ? float_bits(*value, type)
                                                           : std::nullopt;
}

}  // namespace fatune::emulate
