#include "emulate/decode/scalar_type.hpp"

#include <algorithm>
#include <array>

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

}  // namespace fatune::emulate
