#pragma once

#include <concepts>
#include <cstdint>

#include "emulate/decode/decoder.hpp"
#include "emulate/operations/map_lanes.hpp"

// Operations that are a function of one lane's values.
namespace fatune::emulate {

/// The type that an operand of this C++ type has, for its width and its immediates.
template <typename T>
constexpr ScalarType scalar_type_of() {
  using enum ScalarType;
  if constexpr (std::same_as<T, float>) return f32;
  if constexpr (std::same_as<T, double>) return f64;
  if constexpr (std::same_as<T, std::int64_t>) return s64;
  if constexpr (std::same_as<T, std::uint64_t>) return u64;
  if constexpr (std::same_as<T, std::int32_t>) return s32;
  if constexpr (std::same_as<T, std::uint32_t>) return u32;
  if constexpr (std::same_as<T, std::int16_t>) return s16;
  if constexpr (std::same_as<T, std::uint16_t>) return u16;
  if constexpr (std::same_as<T, std::int8_t>) return s8;
  if constexpr (std::same_as<T, std::uint8_t>) return u8;
}

namespace detail {

template <auto kFunction, typename To, typename... From>
void use_function(Decoder& d, To (*)(From...)) {
  struct Call {
    To operator()(From... values) const { return kFunction(values...); }
  };
  use(d, &lane_wise<Call, To, From...>, scalar_type_of<To>(), {scalar_type_of<From>()...});
}

}  // namespace detail

/// An instruction whose first operand is kFunction of the others, in each lane.
template <auto kFunction>
void use_function(Decoder& d) {
  detail::use_function<kFunction>(d, +kFunction);
}

/// The handler of an instruction on the type that its last modifier names, an integer of 16 to 64
/// bits.
template <typename Function>
Handler integer_binary(const Decoder& d) {
  using enum ScalarType;
  switch (d.type()) {
    case u16:
      return &lane_wise<Function, std::uint16_t, std::uint16_t, std::uint16_t>;
    case s16:
      return &lane_wise<Function, std::int16_t, std::int16_t, std::int16_t>;
    case u32:
      return &lane_wise<Function, std::uint32_t, std::uint32_t, std::uint32_t>;
    case s32:
      return &lane_wise<Function, std::int32_t, std::int32_t, std::int32_t>;
    case u64:
      return &lane_wise<Function, std::uint64_t, std::uint64_t, std::uint64_t>;
    case s64:
      return &lane_wise<Function, std::int64_t, std::int64_t, std::int64_t>;
    default:
      d.unsupported("this type");
  }
}

template <typename Function>
Handler integer_ternary(const Decoder& d) {
  using enum ScalarType;
  switch (d.type()) {
    case u16:
      return &lane_wise<Function, std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t>;
    case s16:
      return &lane_wise<Function, std::int16_t, std::int16_t, std::int16_t, std::int16_t>;
    case u32:
      return &lane_wise<Function, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    case s32:
      return &lane_wise<Function, std::int32_t, std::int32_t, std::int32_t, std::int32_t>;
    case u64:
      return &lane_wise<Function, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    case s64:
      return &lane_wise<Function, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    default:
      d.unsupported("this type");
  }
}

/// Ends decoding when the opcode has one of these modifiers.
inline void refuse(const Decoder& d, std::initializer_list<std::string_view> modifiers) {
  if (d.one_of(modifiers)) {
    d.unsupported("this modifier");
  }
}

}  // namespace fatune::emulate
