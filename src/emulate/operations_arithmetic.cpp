#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "emulate/map_lanes.hpp"
#include "emulate/operations.hpp"

// Integer and floating-point arithmetic: PTX ISA 9.0, sections 9.7.1 and 9.7.3.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// Wraps around, also where the language leaves overflow undefined; narrow types do not promote.
template <typename T, typename F>
T wrapped(T a, T b, F f) {
  using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return static_cast<T>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
}

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a + b;
    } else {
      return wrapped(a, b, [](auto l, auto r) { return l + r; });
    }
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a - b;
    } else {
      return wrapped(a, b, [](auto l, auto r) { return l - r; });
    }
  }
};
struct MulLow {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a * b;
    } else {
      return wrapped(a, b, [](auto l, auto r) { return l * r; });
    }
  }
};
__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

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
    if constexpr (std::is_floating_point_v<T>) {
      return std::isnan(a)   ? b
             : std::isnan(b) ? a
                             : (std::signbit(a) == std::signbit(b) ? std::min(a, b)
                                : std::signbit(a)                  ? a
                                                                   : b);
    } else {
      return std::min(a, b);
    }
  }
};
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::isnan(a)   ? b
             : std::isnan(b) ? a
                             : (std::signbit(a) == std::signbit(b) ? std::max(a, b)
                                : std::signbit(a)                  ? b
                                                                   : a);
    } else {
      return std::max(a, b);
    }
  }
};
/// A division by zero gives what the hardware's routine gives: all ones.
struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) {
        return static_cast<T>(-1);
      }
      return std::is_signed_v<T> && b == static_cast<T>(-1) ? Sub{}(T{0}, a)
                                                            : static_cast<T>(a / b);
    }
  }
};
struct Remainder {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) {
      return a;
    }
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
  }
};
struct Negate {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) {
      return -a;
    } else {
      return Sub{}(T{0}, a);
    }
  }
};
struct Absolute {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(a);
    } else {
      return a < 0 ? Negate{}(a) : a;
    }
  }
};

/// The .ftz form of an operation on single precision.
template <typename F>
struct Flushed {
  template <typename... T>
  float operator()(T... values) const {
    return flush_subnormal(F{}(flush_subnormal(values)...));
  }
};

template <typename F, typename T>
constexpr Handler kBinary = &lane_wise<F, T, T, T>;
template <typename F, typename T>
constexpr Handler kUnary = &lane_wise<F, T, T>;

void check_rounding(const Decoder& d) {
  if ((d.type() != f32 && d.type() != f64) || d.one_of({"sat", "rz", "rm", "rp"})) {
    d.unsupported("only .f32 and .f64, rounded to nearest");
  }
}

template <typename F>
Handler float_binary(const Decoder& d) {
  check_rounding(d);
  return d.type() == f64 ? kBinary<F, double>
         : d.has("ftz")  ? kBinary<Flushed<F>, float>
                         : kBinary<F, float>;
}

template <typename F>
Handler float_unary(const Decoder& d) {
  check_rounding(d);
  return d.type() == f64 ? kUnary<F, double>
         : d.has("ftz")  ? kUnary<Flushed<F>, float>
                         : kUnary<F, float>;
}

template <typename F>
Handler integer_handler(const Decoder& d) {
  switch (d.type()) {
    case u16:
      return kBinary<F, std::uint16_t>;
    case s16:
      return kBinary<F, std::int16_t>;
    case u32:
      return kBinary<F, std::uint32_t>;
    case s32:
      return kBinary<F, std::int32_t>;
    case u64:
      return kBinary<F, std::uint64_t>;
    case s64:
      return kBinary<F, std::int64_t>;
    default:
      d.unsupported();
  }
}

template <typename F>
void decode_binary(Decoder& d) {
  const Handler handler = is_float(d.type()) ? float_binary<F>(d) : integer_handler<F>(d);
  use(d, handler, d.type(), {d.type(), d.type()});
}

void refuse(const Decoder& d, std::initializer_list<std::string_view> modifiers) {
  if (d.one_of(modifiers)) {
    d.unsupported("this modifier");
  }
}

struct MulWide {
  std::int64_t operator()(std::int32_t a, std::int32_t b) const { return std::int64_t{a} * b; }
  std::uint64_t operator()(std::uint32_t a, std::uint32_t b) const { return std::uint64_t{a} * b; }
  std::int32_t operator()(std::int16_t a, std::int16_t b) const { return a * b; }
  std::uint32_t operator()(std::uint16_t a, std::uint16_t b) const { return std::uint32_t{a} * b; }
};

void decode_mul_wide(Decoder& d) {
  switch (d.type()) {
    case s32:
      return use(d, &lane_wise<MulWide, std::int64_t, std::int32_t, std::int32_t>, s64, {s32, s32});
    case u32:
      return use(d, &lane_wise<MulWide, std::uint64_t, std::uint32_t, std::uint32_t>, u64,
                 {u32, u32});
    case s16:
      return use(d, &lane_wise<MulWide, std::int32_t, std::int16_t, std::int16_t>, s32, {s16, s16});
    case u16:
      return use(d, &lane_wise<MulWide, std::uint32_t, std::uint16_t, std::uint16_t>, u32,
                 {u16, u16});
    default:
      d.unsupported();
  }
}

template <typename Mul>
struct MulThenAdd {
  template <typename A, typename B, typename C>
  C operator()(A a, B b, C c) const {
    return Add{}(static_cast<C>(Mul{}(a, b)), c);
  }
};

struct FusedMultiplyAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

// --- Approximations: correctly rounded here, which is within their documented error ---

struct Exp2 {
  float operator()(float a) const { return static_cast<float>(std::exp2(static_cast<double>(a))); }
};
struct Log2 {
  float operator()(float a) const { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
struct Reciprocal {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct SquareRoot {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct ReciprocalRoot {
  float operator()(float a) const {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct Sine {
  float operator()(float a) const { return static_cast<float>(std::sin(static_cast<double>(a))); }
};
struct Cosine {
  float operator()(float a) const { return static_cast<float>(std::cos(static_cast<double>(a))); }
};
struct HyperbolicTangent {
  float operator()(float a) const { return static_cast<float>(std::tanh(static_cast<double>(a))); }
};

template <typename F>
Handler approximation(const Decoder& d) {
  if (d.type() != f32) {
    d.unsupported("only .f32");
  }
  return d.has("ftz") ? kUnary<Flushed<F>, float> : kUnary<F, float>;
}

}  // namespace

void decode_add(Decoder& d) {
  refuse(d, {"cc", "sat", "f16", "f16x2", "bf16", "bf16x2"});
  decode_binary<Add>(d);
}

void decode_sub(Decoder& d) {
  refuse(d, {"cc", "sat"});
  decode_binary<Sub>(d);
}

void decode_mul(Decoder& d) {
  if (d.has("wide")) {
    return decode_mul_wide(d);
  }
  if (d.has("hi")) {
    return use(d, integer_handler<MulHigh>(d), d.type(), {d.type(), d.type()});
  }
  decode_binary<MulLow>(d);
}

void decode_mad(Decoder& d) {
  refuse(d, {"cc", "sat", "f32", "f64"});
  if (d.has("wide")) {
    switch (d.type()) {
      case s32:
        return use(
            d,
            &lane_wise<MulThenAdd<MulWide>, std::int64_t, std::int32_t, std::int32_t, std::int64_t>,
            s64, {s32, s32, s64});
      case u32:
        return use(d,
                   &lane_wise<MulThenAdd<MulWide>, std::uint64_t, std::uint32_t, std::uint32_t,
                              std::uint64_t>,
                   u64, {u32, u32, u64});
      case s16:
        return use(
            d,
            &lane_wise<MulThenAdd<MulWide>, std::int32_t, std::int16_t, std::int16_t, std::int32_t>,
            s32, {s16, s16, s32});
      case u16:
        return use(d,
                   &lane_wise<MulThenAdd<MulWide>, std::uint32_t, std::uint16_t, std::uint16_t,
                              std::uint32_t>,
                   u32, {u16, u16, u32});
      default:
        d.unsupported();
    }
  }
  const bool high = d.has("hi");
  const ScalarType t = d.type();
  const auto choose = [&]<typename T>(T) -> Handler {
    return high ? &lane_wise<MulThenAdd<MulHigh>, T, T, T, T>
                : &lane_wise<MulThenAdd<MulLow>, T, T, T, T>;
  };
  switch (t) {
    case u16:
      return use(d, choose(std::uint16_t{}), t, {t, t, t});
    case s16:
      return use(d, choose(std::int16_t{}), t, {t, t, t});
    case u32:
      return use(d, choose(std::uint32_t{}), t, {t, t, t});
    case s32:
      return use(d, choose(std::int32_t{}), t, {t, t, t});
    case u64:
      return use(d, choose(std::uint64_t{}), t, {t, t, t});
    case s64:
      return use(d, choose(std::int64_t{}), t, {t, t, t});
    default:
      d.unsupported();
  }
}

void decode_fma(Decoder& d) {
  refuse(d, {"rz", "rm", "rp", "sat", "relu"});
  switch (d.type()) {
    case f32:
      return use(d,
                 d.has("ftz") ? &lane_wise<Flushed<FusedMultiplyAdd>, float, float, float, float>
                              : &lane_wise<FusedMultiplyAdd, float, float, float, float>,
                 f32, {f32, f32, f32});
    case f64:
      return use(d, &lane_wise<FusedMultiplyAdd, double, double, double, double>, f64,
                 {f64, f64, f64});
    default:
      d.unsupported("only .f32 and .f64");
  }
}

void decode_div(Decoder& d) { decode_binary<Divide>(d); }

void decode_rem(Decoder& d) {
  use(d, integer_handler<Remainder>(d), d.type(), {d.type(), d.type()});
}

void decode_min(Decoder& d) {
  refuse(d, {"NaN", "xorsign", "relu"});
  decode_binary<Minimum>(d);
}

void decode_max(Decoder& d) {
  refuse(d, {"NaN", "xorsign", "relu"});
  decode_binary<Maximum>(d);
}

void decode_neg(Decoder& d) {
  const ScalarType t = d.type();
  switch (t) {
    case s16:
      return use(d, kUnary<Negate, std::int16_t>, t, {t});
    case s32:
      return use(d, kUnary<Negate, std::int32_t>, t, {t});
    case s64:
      return use(d, kUnary<Negate, std::int64_t>, t, {t});
    default:
      use(d, float_unary<Negate>(d), t, {t});
  }
}

void decode_abs(Decoder& d) {
  const ScalarType t = d.type();
  switch (t) {
    case s16:
      return use(d, kUnary<Absolute, std::int16_t>, t, {t});
    case s32:
      return use(d, kUnary<Absolute, std::int32_t>, t, {t});
    case s64:
      return use(d, kUnary<Absolute, std::int64_t>, t, {t});
    default:
      use(d, float_unary<Absolute>(d), t, {t});
  }
}

void decode_approximation(Decoder& d) {
  const auto handler = [&]() -> Handler {
    if (d.name() == "ex2") return approximation<Exp2>(d);
    if (d.name() == "lg2") return approximation<Log2>(d);
    if (d.name() == "sin") return approximation<Sine>(d);
    if (d.name() == "cos") return approximation<Cosine>(d);
    if (d.name() == "tanh") return approximation<HyperbolicTangent>(d);
    if (d.name() == "rsqrt") return approximation<ReciprocalRoot>(d);
    if (d.name() == "sqrt") return float_unary<SquareRoot>(d);
    return float_unary<Reciprocal>(d);
  };
  use(d, handler(), d.type(), {d.type()});
}

}  // namespace fatune::emulate
