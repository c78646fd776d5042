#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

// The results of integer instructions, by type: PTX ISA 9.0, section 9.7.1.
namespace fatune::emulate {

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

/// Wraps around, even where C++ leaves overflow undefined. Narrow types are not promoted to int.
template <typename F>
struct Wrapping {
  template <typename T>
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return static_cast<T>(F{}(static_cast<Wide>(a), static_cast<Wide>(b)));
  }
};
inline constexpr Wrapping<std::plus<>> kAdd;
inline constexpr Wrapping<std::minus<>> kSubtract;
inline constexpr Wrapping<std::multiplies<>> kMultiplyLow;
inline constexpr auto kMultiplyHigh = []<typename T>(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;
  return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> (8 * sizeof(T)));
};
inline constexpr auto kMinimum = []<typename T>(T a, T b) { return std::min(a, b); };
inline constexpr auto kMaximum = []<typename T>(T a, T b) { return std::max(a, b); };
inline constexpr auto kNegate = []<typename T>(T a) { return kSubtract(T{0}, a); };
inline constexpr auto kAbsolute = [](auto a) { return a < 0 ? kNegate(a) : a; };
/// Division by zero gives all ones, as the hardware's routine does.
inline constexpr auto kDivide = []<typename T>(T a, T b) {
  return b == 0                                           ? static_cast<T>(-1)
         : std::is_signed_v<T> && b == static_cast<T>(-1) ? kNegate(a)
                                                          : static_cast<T>(a / b);
};
/// The remainder of a division by zero is all ones too.
inline constexpr auto kRemainder = []<typename T>(T a, T b) {
  return b == 0                                           ? static_cast<T>(-1)
         : std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0}
                                                          : static_cast<T>(a % b);
};
/// c + |a - b|
inline constexpr auto kAddDifference = [](auto a, auto b, auto c) {
  return kAdd(c, a < b ? kSubtract(b, a) : kSubtract(a, b));
};

/// The type of twice the width.
template <typename T>
using Twice =
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>;
inline constexpr auto kMultiplyWide = []<typename T>(T a, T b) { return Twice<T>{a} * b; };

template <auto kMultiply>
struct MultiplyThenAdd {
  template <typename Sum>
  Sum operator()(auto a, auto b, Sum c) const {
    return kAdd(static_cast<Sum>(kMultiply(a, b)), c);
  }
};

/// The updates of a value that atomic instructions, reductions and logic have in common.
enum class Update : std::uint8_t {
  add,
  min,
  max,
  conjunction,
  disjunction,
  exclusive,
  exchange,
  compare,
  increment,
  decrement
};

/// The new value of an integer of type T. Only Update::compare uses c.
template <typename T>
constexpr T updated(Update update, T before, T b, T c = {}) {
  switch (update) {
    case Update::add:
      return kAdd(before, b);
    case Update::min:
      return std::min(before, b);
    case Update::max:
      return std::max(before, b);
    case Update::conjunction:
      return static_cast<T>(before & b);
    case Update::disjunction:
      return static_cast<T>(before | b);
    case Update::exclusive:
      return static_cast<T>(before ^ b);
    case Update::exchange:
      return b;
    case Update::compare:
      return before == b ? c : before;
    case Update::increment:
      return before >= b ? T{0} : kAdd(before, T{1});
    case Update::decrement:
      break;
  }
  return before == 0 || before > b ? b : kSubtract(before, T{1});
}

/// The nearest value of type T.
template <typename T, typename From>
constexpr T saturated(From value) {
  constexpr auto kLeast = static_cast<Signed128>(std::numeric_limits<T>::min());
  constexpr auto kMost = static_cast<Signed128>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(static_cast<Signed128>(value), kLeast, kMost));
}

}  // namespace fatune::emulate
