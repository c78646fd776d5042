#include "emulate/decode/literal.hpp"

#include <bit>

#include "core/text_parts.hpp"

namespace fatune::emulate {
namespace {

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
