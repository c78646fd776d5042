#include "emulator/decode/names.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kNarrowBytes = kLanes * 4;
constexpr std::uint32_t kWideBytes = kLanes * 8;
// The most register bytes of a warp. NVRTC names a new register for every value, so long kernels
// name some ten thousand.
constexpr std::uint32_t kMostRegisterBytes = std::uint32_t{1} << 26U;

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
    TypeFacts{"u16x2", u16x2, 4},   TypeFacts{"s16x2", s16x2, 4}, TypeFacts{"e4m3", e4m3, 1},
    TypeFacts{"e4m3x2", e4m3x2, 2}, TypeFacts{"e5m2", e5m2, 1},   TypeFacts{"e5m2x2", e5m2x2, 2},
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

Names::Names(const PtxFunction& function, const Declarations& declarations)
    : function_(function), declarations_(declarations) {
  for (const std::string& type : function.register_types) {
    add_register(type);
  }
  add_special_registers();
  for (std::size_t i = 0; i < function.statements.size(); ++i) {
    for (const std::string& label : function.statements[i].labels) {
      labels_[label] = static_cast<std::int32_t>(i);
    }
  }
  for (const std::string& label : function.end_labels) {
    labels_[label] = static_cast<std::int32_t>(function.statements.size());
  }
}

void Names::add_register(std::string_view type) {
  const auto known = scalar_type(type);
  if (!known || size_of(*known) > 8) {
    throw Error(ExitCode::bad_file, fmt::format("a register of type '{}' is not covered", type),
                function_.name);
  }
  if (*known == ScalarType::pred) {
    registers_.push_back({{predicates_++, false}, *known});
    return;
  }
  if (register_bytes_ >= kMostRegisterBytes) {
    throw Error(ExitCode::bad_file, "more registers than are covered", function_.name);
  }
  registers_.push_back({{register_bytes_, false}, *known});
  register_bytes_ += size_of(*known) == 8 ? kWideBytes : kNarrowBytes;
}

void Names::add_special_registers() {
  special_offset_ = register_bytes_;
  const auto add = [&](const std::string& name) {
    special_[name] = {{register_bytes_, false}, ScalarType::u32, true};
    register_bytes_ += kNarrowBytes;
  };
  for (const std::string_view name : kSpecialTriples) {
    for (const char axis : {'x', 'y', 'z'}) {
      add(fmt::format("%{}.{}", name, axis));
    }
  }
  for (const std::string_view name : kSpecialSingles) {
    add(fmt::format("%{}", name));
  }
}

const Names::Register* Names::find_register(std::string_view name) const {
  for (const auto* indices : {&statement_->writes, &statement_->reads}) {
    for (const std::size_t index : *indices) {
      if (function_.registers[index] == name) {
        return &registers_[index];
      }
    }
  }
  return value_at(special_, name);
}

Operand Names::unread() {
  if (!unread_) {
    unread_ = Operand{register_bytes_, false};
    register_bytes_ += kWideBytes;
  }
  return *unread_;
}

Operand Names::carry() {
  if (!carry_) {
    carry_ = Operand{predicates_++, false};
  }
  return *carry_;
}

Operand Names::constant(std::uint64_t bits, bool wide) {
  const auto [found, is_new] = constants_.try_emplace(Constant{bits, wide}, constant_bytes_);
  if (is_new) {
    constant_bytes_ += wide ? kWideBytes : kNarrowBytes;
  }
  return {found->second, true};
}

const std::uint64_t* Names::find_symbol(std::string_view name) const {
  return value_at(declarations_.addresses, name);
}

std::optional<std::uint64_t> Names::find_call_parameter(std::string_view name) const {
  const bool known = declarations_.call_parameters.contains(name);
  const std::uint64_t* const address = find_symbol(name);
  return known && address != nullptr ? std::optional(*address) : std::nullopt;
}

std::vector<std::string> Names::branch_targets(std::string_view name) const {
  const auto* const found = value_at(function_.branch_targets, name);
  return found == nullptr ? std::vector<std::string>() : *found;
}

std::int32_t Names::find_label(std::string_view name) const {
  const std::int32_t* const found = value_at(labels_, name);
  return found == nullptr ? -1 : *found;
}

LaneStorage Names::constants() const {
  LaneStorage storage(constant_bytes_);
  for (const auto& [constant, offset] : constants_) {
    if (constant.wide) {
      std::fill_n(storage.at<std::uint64_t>(offset), kLanes, constant.bits);
    } else {
      std::fill_n(storage.at<std::uint32_t>(offset), kLanes,
                  static_cast<std::uint32_t>(constant.bits));
    }
  }
  return storage;
}

std::optional<ScalarType> scalar_type(std::string_view name) {
  const TypeFacts* const found = find_in(kTypes, name, &TypeFacts::name);
  return found == nullptr ? std::nullopt : std::optional(found->type);
}

int size_of(ScalarType type) { return find_in(kTypes, type, &TypeFacts::type)->bytes; }

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
  return value && contains(text, ".") ? float_bits(*value, type) : std::nullopt;
}

}  // namespace fatune::emulate
