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
using Add = Wrapping<std::plus<>>;
using Sub = Wrapping<std::minus<>>;
using MulLow = Wrapping<std::multiplies<>>;
struct MulHigh {
  template <typename T>
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> (8 * sizeof(T)));
  }
};
struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
/// Division by zero gives all ones, as the hardware's routine does.
struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) {
      return static_cast<T>(-1);
    }
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? Sub{}(T{0}, a) : static_cast<T>(a / b);
  }
};
/// The remainder of a division by zero is all ones too.
struct Remainder {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) {
      return static_cast<T>(-1);
    }
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
  }
};
struct Negate {
  template <typename T>
  T operator()(T a) const {
    return Sub{}(T{0}, a);
  }
};
struct Absolute {
  template <typename T>
  T operator()(T a) const {
    return a < 0 ? Negate{}(a) : a;
  }
};
/// c + |a - b|
struct AddDifference {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add{}(c, a < b ? Sub{}(b, a) : Sub{}(a, b));
  }
};

struct MulWide {
  std::int64_t operator()(std::int32_t a, std::int32_t b) const { return std::int64_t{a} * b; }
  std::uint64_t operator()(std::uint32_t a, std::uint32_t b) const { return std::uint64_t{a} * b; }
  std::int32_t operator()(std::int16_t a, std::int16_t b) const { return a * b; }
  std::uint32_t operator()(std::uint16_t a, std::uint16_t b) const { return std::uint32_t{a} * b; }
};

template <typename Mul>
struct MulThenAdd {
  template <typename A, typename B, typename C>
  C operator()(A a, B b, C c) const {
    return Add{}(static_cast<C>(Mul{}(a, b)), c);
  }
};

/// The nearest value of type T.
template <typename T, typename From>
constexpr T saturated(From value) {
  constexpr auto kLeast = static_cast<Signed128>(std::numeric_limits<T>::min());
  constexpr auto kMost = static_cast<Signed128>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(static_cast<Signed128>(value), kLeast, kMost));
}

}  // namespace fatune::emulate
