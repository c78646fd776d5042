#pragma once

#include <concepts>
#include <cstdint>

#include "emulate/decode/decoder.hpp"
#include "emulate/operations/map_lanes.hpp"

// Operations that are a function of one lane's values.
namespace fatune::emulate {

/// The PTX type of an operand of this C++ type, which sets its width and the type of immediates.
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

/// A value of the C++ type for a PTX type. Bit types are unsigned integers.
template <ScalarType kType>
constexpr auto value_of() {
  using enum ScalarType;
  if constexpr (kType == f32) return float{};
  if constexpr (kType == f64) return double{};
  if constexpr (kType == s64) return std::int64_t{};
  if constexpr (kType == s32) return std::int32_t{};
  if constexpr (kType == s16) return std::int16_t{};
  if constexpr (kType == s8) return std::int8_t{};
  if constexpr (kType == u64 || kType == b64) return std::uint64_t{};
  if constexpr (kType == u32 || kType == b32) return std::uint32_t{};
  if constexpr (kType == u16 || kType == b16) return std::uint16_t{};
  if constexpr (kType == u8) return std::uint8_t{};
}

/// Calls `work.operator()<T>()` with the C++ type of `type`. Returns false if kTypes lacks it.
template <ScalarType... kTypes, typename Work>
bool with_type(ScalarType type, Work work) {
  return ((type == kTypes && (work.template operator()<decltype(value_of<kTypes>())>(), true)) ||
          ...);
}

/// The handler that `choose.operator()<T>()` returns for the C++ type of `type`. Types outside
/// kTypes are not covered.
template <ScalarType... kTypes, typename Choose>
Handler handler_for(const Decoder& d, ScalarType type, Choose choose) {
  Handler handler = nullptr;
  if (!with_type<kTypes...>(type,
                            [&]<typename T>() { handler = choose.template operator()<T>(); })) {
    d.unsupported("this type");
  }
  return handler;
}

namespace detail {

template <auto kFunction, typename To, typename... From>
struct Function {
  To operator()(From... values) const { return kFunction(values...); }

  static constexpr Handler kHandler = &lane_wise<Function, To, From...>;
  static void use_in(Decoder& d) {
    use(d, kHandler, scalar_type_of<To>(), {scalar_type_of<From>()...});
  }
};

template <auto kFunction, typename To, typename... From>
Function<kFunction, To, From...> function(To (*)(From...));

}  // namespace detail

/// The handler that sets operand 0 to kFunction of the other operands, in each lane.
template <auto kFunction>
constexpr Handler function_handler() {
  return decltype(detail::function<kFunction>(+kFunction))::kHandler;
}

/// Decodes an instruction that sets operand 0 to kFunction of the other operands, in each lane.
template <auto kFunction>
void use_function(Decoder& d) {
  decltype(detail::function<kFunction>(+kFunction))::use_in(d);
}

/// The handlers of instructions on the last type of the opcode, an integer of 16 to 64 bits.
template <typename Function>
Handler integer_binary(const Decoder& d) {
  using enum ScalarType;
  return handler_for<u16, s16, u32, s32, u64, s64>(
      d, d.type(), []<typename T>() { return &lane_wise<Function, T, T, T>; });
}
template <typename Function>
Handler integer_ternary(const Decoder& d) {
  using enum ScalarType;
  return handler_for<u16, s16, u32, s32, u64, s64>(
      d, d.type(), []<typename T>() { return &lane_wise<Function, T, T, T, T>; });
}

/// Ends decoding if the opcode has one of these modifiers.
inline void refuse(const Decoder& d, std::initializer_list<std::string_view> modifiers) {
  d.unsupported_if(d.one_of(modifiers).has_value(), "this modifier");
}

}  // namespace fatune::emulate
