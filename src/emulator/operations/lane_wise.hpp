#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emulator/decode/decoder.hpp"
#include "emulator/execution.hpp"
#include "emulator/values/integers.hpp"

// Operations that are a function of one lane's values: results[lane] = f(sources[lane]...), for the
// lanes of a mask. They are plain loops over all 32 lanes, which compilers turn into vector
// instructions.
namespace fatune::emulate {

/// Calls `work(sources...)` with the lanes of operands 1, 2, ..., which have types From.
template <typename... From, typename Work>
void with_sources(const Step& step, Work work) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    work(static_cast<const Raw<From>*>(step.lanes<Raw<From>>(kIndex + 1))...);
  }
  (std::index_sequence_for<From...>());
}

/// A handler. Operand 0 is the result, of type To. The next operands have types From. `kFunction`
/// is a function, or a callable without state.
template <auto kFunction, typename To, typename... From>
void lane_wise(const Step& step) {
  with_sources<From...>(step, [&](const auto*... from) {
    Raw<To>* const to = step.lanes<Raw<To>>(0);
    const auto value = [&](int lane) {
      return to_raw<To>(static_cast<To>(kFunction(from_raw<From>(from[lane])...)));
    };
    if (step.mask == kAllLanes) {
      Raw<To> results[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        results[lane] = value(lane);
      }
      std::memcpy(to, results, sizeof(results));
      return;
    }
    step.for_each([&](int lane) { to[lane] = value(lane); });
  });
}

/// The PTX type of an operand of this C++ type, which sets its width and the type of immediates.
template <typename T>
constexpr ScalarType scalar_type_of() {
  using enum ScalarType;
  constexpr ScalarType kUnsigned[]{u8, u16, u32, u64};
  constexpr ScalarType kSigned[]{s8, s16, s32, s64};
  constexpr std::size_t kSize = std::bit_width(sizeof(T)) - 1;
  return std::same_as<T, float>    ? f32
         : std::same_as<T, double> ? f64
                                   : (std::is_signed_v<T> ? kSigned : kUnsigned)[kSize];
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
  d.unsupported_if(
      !with_type<kTypes...>(type, [&]<typename T>() { handler = choose.template operator()<T>(); }),
      "this type");
  return handler;
}

/// Decodes an instruction that sets operand 0, of type To, to kFunction of the other operands, in
/// each lane.
template <auto kFunction, typename To, typename... From>
void use_lane_wise(Decoder& d) {
  d.use(&lane_wise<kFunction, To, From...>, scalar_type_of<To>(), {scalar_type_of<From>()...});
}

/// The same for a function, whose types say those of the operands.
template <auto kFunction>
void use_function(Decoder& d) {
  [&]<typename To, typename... From>(To (*)(From...)) {
    use_lane_wise<kFunction, To, From...>(d);
  }(kFunction);
}

// Stand for the opcode's type T, and for the type of twice its width, in the signature of use_for.
struct Own;
struct Doubled;

namespace detail {

template <typename Given, typename T>
struct Resolved {
  using Type = Given;
};
template <typename T>
struct Resolved<Own, T> {
  using Type = T;
};
template <typename T>
struct Resolved<Doubled, T> {
  using Type = Twice<T>;
};

template <auto kFunction, typename T, typename To, typename... From>
void use_signature(Decoder& d, std::type_identity<To(From...)>) {
  use_lane_wise<kFunction, typename Resolved<To, T>::Type, typename Resolved<From, T>::Type...>(d);
}

}  // namespace detail

/// The same for a callable and the last type of the opcode, which must be one of kTypes. Signature
/// is the type of a function, such as Own(Own, std::uint32_t).
template <auto kFunction, typename Signature, ScalarType... kTypes>
void use_for(Decoder& d) {
  const bool covered = with_type<kTypes...>(d.type(), [&]<typename T>() {
    detail::use_signature<kFunction, T>(d, std::type_identity<Signature>());
  });
  d.unsupported_if(!covered, "this type");
}

/// Ends decoding if the opcode has one of these modifiers.
inline void refuse(const Decoder& d, std::initializer_list<std::string_view> modifiers) {
  d.unsupported_if(d.one_of(modifiers).has_value(), "this modifier");
}

}  // namespace fatune::emulate
