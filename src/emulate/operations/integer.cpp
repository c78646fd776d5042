#include <cstdint>

#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/integer_functions.hpp"

// Integer arithmetic: PTX ISA 9.0, section 9.7.1.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <typename F>
void use_binary(Decoder& d) {
  use(d, integer_binary<F>(d), d.type(), {d.type(), d.type()});
}

template <typename F>
void use_ternary(Decoder& d) {
  use(d, integer_ternary<F>(d), d.type(), {d.type(), d.type(), d.type()});
}

/// Applies F to each 16-bit half of the operands.
template <typename F, typename T>
std::uint32_t in_halves(std::uint32_t a, std::uint32_t b) {
  const auto of = [&](std::uint32_t shift) {
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(
               F{}(static_cast<T>(a >> shift), static_cast<T>(b >> shift))))
           << shift;
  };
  return of(16) | of(0);
}

/// Decodes the instruction if its type is two integers in 32 bits. Returns false for other types.
template <typename F>
bool use_packed(Decoder& d) {
  if (d.type() == u16x2) {
    use_function<&in_halves<F, std::uint16_t>>(d);
  } else if (d.type() == s16x2) {
    use_function<&in_halves<F, std::int16_t>>(d);
  } else {
    return false;
  }
  return true;
}

/// .relu: negative results are zero.
template <typename F>
struct Rectified {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(F{}(a, b), T{0});
  }
};

template <typename F>
void use_integer_extremum(Decoder& d) {
  if (!d.has("relu")) {
    return use_packed<F>(d) ? void() : use_binary<F>(d);
  }
  if (d.type() == s16x2) {
    return use_function<&in_halves<Rectified<F>, std::int16_t>>(d);
  }
  d.unsupported_if(d.type() != s32, "this type");
  use(d, &lane_wise<Rectified<F>, std::int32_t, std::int32_t, std::int32_t>, s32, {s32, s32});
}

std::int32_t add_saturated(std::int32_t a, std::int32_t b) {
  return saturated<std::int32_t>(std::int64_t{a} + b);
}
std::int32_t subtract_saturated(std::int32_t a, std::int32_t b) {
  return saturated<std::int32_t>(std::int64_t{a} - b);
}
std::int32_t multiply_add_saturated(std::int32_t a, std::int32_t b, std::int32_t c) {
  return saturated<std::int32_t>((std::int64_t{a} * b >> 32) + c);
}

template <auto kFunction>
void use_saturated(Decoder& d) {
  d.unsupported_if(d.type() != s32, "this type");
  use_function<kFunction>(d);
}

// --- Products of other widths ---

/// The type of twice the width.
template <typename T>
using Twice = decltype(MulWide{}(T{}, T{}));

ScalarType twice(const Decoder& d) {
  return d.type() == s32 ? s64 : d.type() == u32 ? u64 : d.type() == s16 ? s32 : u32;
}

void use_mul_wide(Decoder& d) {
  const Handler handler = handler_for<u16, s16, u32, s32>(
      d, d.type(), []<typename T>() { return &lane_wise<MulWide, Twice<T>, T, T>; });
  use(d, handler, twice(d), {d.type(), d.type()});
}

void use_mad_wide(Decoder& d) {
  const Handler handler = handler_for<u16, s16, u32, s32>(d, d.type(), []<typename T>() {
    return &lane_wise<MulThenAdd<MulWide>, Twice<T>, T, T, Twice<T>>;
  });
  use(d, handler, twice(d), {d.type(), d.type(), twice(d)});
}

std::int64_t product24(std::int32_t a, std::int32_t b) {
  constexpr int kUnused = 8;
  const auto low = [](std::int32_t value) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << kUnused) >> kUnused;
  };
  return std::int64_t{low(a)} * low(b);
}
std::uint64_t product24(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t kLow = 0xffffffU;
  return std::uint64_t{a & kLow} * (b & kLow);
}

struct Mul24Low {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b));
  }
};
/// The upper 32 of the 48 bits of the product.
struct Mul24High {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b) >> 16);
  }
};
std::int32_t mad24_saturated(std::int32_t a, std::int32_t b, std::int32_t c) {
  return saturated<std::int32_t>((product24(a, b) >> 16) + c);
}

template <typename F>
void use_mul24(Decoder& d) {
  const Handler handler =
      handler_for<u32, s32>(d, d.type(), []<typename T>() { return &lane_wise<F, T, T, T>; });
  use(d, handler, d.type(), {d.type(), d.type()});
}
template <typename F>
void use_mad24(Decoder& d) {
  const Handler handler = handler_for<u32, s32>(
      d, d.type(), []<typename T>() { return &lane_wise<MulThenAdd<F>, T, T, T, T>; });
  use(d, handler, d.type(), {d.type(), d.type(), d.type()});
}

// --- Sums of products of bytes ---

template <typename Part>
std::int32_t part_of(std::uint32_t value, std::uint32_t index) {
  return static_cast<Part>(value >> (8 * sizeof(Part) * index));
}

/// c plus the sum of kCount products of parts of a and b. The parts of b start at kFirst.
template <typename A, typename B, std::uint32_t kCount, std::uint32_t kFirst>
std::uint32_t dot_product(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (std::uint32_t i = 0; i < kCount; ++i) {
    c += static_cast<std::uint32_t>(part_of<A>(a, i) * part_of<B>(b, kFirst + i));
  }
  return c;
}

template <typename Unsigned, typename Signed, std::uint32_t kCount, std::uint32_t kFirst>
void use_dot_product(Decoder& d) {
  d.unsupported_if(d.types().size() != 2, "this form");
  using UnsignedByte = std::uint8_t;
  using SignedByte = std::int8_t;
  if (d.types()[0] == u32) {
    return d.types()[1] == u32
               ? use_function<&dot_product<Unsigned, UnsignedByte, kCount, kFirst>>(d)
               : use_function<&dot_product<Unsigned, SignedByte, kCount, kFirst>>(d);
  }
  return d.types()[1] == u32 ? use_function<&dot_product<Signed, UnsignedByte, kCount, kFirst>>(d)
                             : use_function<&dot_product<Signed, SignedByte, kCount, kFirst>>(d);
}

template <typename F>
void use_unary_signed(Decoder& d) {
  const Handler handler =
      handler_for<s16, s32, s64>(d, d.type(), []<typename T>() { return &lane_wise<F, T, T>; });
  use(d, handler, d.type(), {d.type()});
}

void decode_integer_add(Decoder& d) {
  if (d.has("cc")) {
    return decode_carry(d);
  }
  if (d.has("sat")) {
    return use_saturated<&add_saturated>(d);
  }
  if (!use_packed<Add>(d)) {
    use_binary<Add>(d);
  }
}

void decode_integer_sub(Decoder& d) {
  if (d.has("cc")) {
    return decode_carry(d);
  }
  return d.has("sat") ? use_saturated<&subtract_saturated>(d) : use_binary<Sub>(d);
}

void decode_integer_mul(Decoder& d) {
  if (d.has("wide")) {
    return use_mul_wide(d);
  }
  return d.has("hi") ? use_binary<MulHigh>(d) : use_binary<MulLow>(d);
}

void decode_integer_mad(Decoder& d) {
  if (d.has("cc")) {
    return decode_carry(d);
  }
  if (d.has("wide")) {
    return use_mad_wide(d);
  }
  if (d.has("sat")) {
    return use_saturated<&multiply_add_saturated>(d);
  }
  return d.has("hi") ? use_ternary<MulThenAdd<MulHigh>>(d) : use_ternary<MulThenAdd<MulLow>>(d);
}

void decode_mul24(Decoder& d) {
  return d.has("hi") ? use_mul24<Mul24High>(d) : use_mul24<Mul24Low>(d);
}

void decode_mad24(Decoder& d) {
  if (d.has("sat")) {
    return use_saturated<&mad24_saturated>(d);
  }
  return d.has("hi") ? use_mad24<Mul24High>(d) : use_mad24<Mul24Low>(d);
}

void decode_dp2a(Decoder& d) {
  return d.has("hi") ? use_dot_product<std::uint16_t, std::int16_t, 2, 2>(d)
                     : use_dot_product<std::uint16_t, std::int16_t, 2, 0>(d);
}

}  // namespace

std::span<const NamedOperation> integer_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"abs", use_unary_signed<Absolute>},
      {"add", decode_integer_add},
      {"div", use_binary<Divide>},
      {"dp2a", decode_dp2a},
      {"dp4a", use_dot_product<std::uint8_t, std::int8_t, 4, 0>},
      {"mad", decode_integer_mad},
      {"mad24", decode_mad24},
      {"max", use_integer_extremum<Maximum>},
      {"min", use_integer_extremum<Minimum>},
      {"mul", decode_integer_mul},
      {"mul24", decode_mul24},
      {"neg", use_unary_signed<Negate>},
      {"rem", use_binary<Remainder>},
      {"sad", use_ternary<AddDifference>},
      {"sub", decode_integer_sub}};
  return kOperations;
}

}  // namespace fatune::emulate
