#include "emulator/values/matrix_product.hpp"

#include <cmath>

// Functions with this attribute are compiled twice. The version is chosen when the program starts:
// most machines have wide vectors. With the thread sanitizer, there is one version: the choice
// would call the sanitizer before it is ready.
#ifdef __SANITIZE_THREAD__
#define FATUNE_WIDE_VECTORS
#else
#define FATUNE_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#endif
// Only inlined functions are compiled twice with their caller.
#define FATUNE_INLINE [[gnu::always_inline]] inline

namespace fatune::emulate {
namespace {

constexpr std::int32_t kZeroExponent = -10'000;  // less than that of any nonzero product
constexpr std::int32_t kSpecialExponent =
    20'000;  // infinity and NaN: the greatest, even times zero
constexpr std::uint32_t kNaN = 0x7fffffff;

/// The exponent of a single-precision number. `least`: the exponent of subnormals of its original
/// type.
FATUNE_INLINE std::int32_t exponent_of(float value, std::int32_t least) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
  const auto biased = static_cast<std::int32_t>(magnitude >> 23U);
  const std::int32_t exponent = std::max(biased - 127, least);
  const std::int32_t finite = magnitude == 0 ? kZeroExponent : exponent;
  return biased == 255 ? kSpecialExponent : finite;
}

constexpr std::int32_t least_exponent(Factor type) {
  return type == Factor::bf16 || type == Factor::tf32 ? -126 : -14;
}
constexpr std::int32_t least_exponent(Accumulator type) {
  return type == Accumulator::f16 ? -14 : -126;
}

template <typename Bits, typename Value>
FATUNE_INLINE void set_factors_as(std::span<const Bits> bits, std::span<float> values,
                                  std::span<std::int32_t> exponents, std::int32_t least,
                                  Value value) {
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const float number = value(bits[i]);
    values[i] = number;
    exponents[i] = exponent_of(number, least);
  }
}

/// Rounds toward zero. Values out of range become infinity.
float truncated(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::abs(value) >= 0x1p128 || std::abs(static_cast<double>(nearest)) <= std::abs(value)) {
    return nearest;
  }
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - 1);
}

/// Rounds to the nearest half. The truncation to single that comes first records what it cuts off
/// in the last bit ("round to odd").
float rounded_to_half(double value) {
  const float cut = truncated(value);
  const std::uint32_t odd = static_cast<double>(cut) != value ? 1 : 0;
  return from_half(to_half(std::bit_cast<float>(std::bit_cast<std::uint32_t>(cut) | odd)));
}

// Vectors of eight columns.
using Floats = float __attribute__((vector_size(32)));
using Integers = std::int32_t __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
using FourIntegers = std::int32_t __attribute__((vector_size(16)));
using FourDoubles = double __attribute__((vector_size(32)));
using FourLongs = std::int64_t __attribute__((vector_size(32)));

template <typename Vector, typename Element>
FATUNE_INLINE void load(Vector& to, const Element* from) {
  std::memcpy(&to, from, sizeof(Vector));
}

/// If the greatest exponent is between these, single precision holds all products as far as they
/// matter, and no result is subnormal.
constexpr std::int32_t kLeastPlain = -90;
constexpr std::int32_t kMostPlain = 126;

/// The sums of a tile, as multiples of 2^(greatest - kSumFractionBits).
struct PairSums {
  alignas(32) std::array<std::int32_t, kProductRows * kProductColumns> greatest;
  alignas(32) std::array<std::int32_t, kProductRows * kProductColumns> even;  ///< C and even k
  alignas(32) std::array<std::int32_t, kProductRows * kProductColumns> odd;
};

/// Sets the greatest exponents. Returns false if any is outside the range of `add_products`.
FATUNE_INLINE bool align_products(const FactorsA& a, const FactorsB& b, Accumulator type,
                                  const Accumulators& c, PairSums& sums) {
  for (std::size_t i = 0; i < c.size(); ++i) {
    sums.greatest[i] = exponent_of(c[i], least_exponent(type));
  }
  Integers bad{};
  for (std::size_t row = 0; row < kProductRows; ++row) {
    Integers products = Integers{} + 2 * kZeroExponent;
    for (std::size_t k = 0; k < kProductDepth; ++k) {
      Integers exponents;
      load(exponents, &b.exponents[k * kProductColumns]);
      exponents += a.exponents[row * kProductDepth + k];
      products = exponents > products ? exponents : products;
    }
    Integers greatest;
    load(greatest, &sums.greatest[row * kProductColumns]);
    greatest = greatest > products ? greatest : products;
    bad |= greatest > kMostPlain;
    bad |= (greatest < kLeastPlain) & (products > kZeroExponent / 2);
    std::memcpy(&sums.greatest[row * kProductColumns], &greatest, sizeof(greatest));
  }
  std::array<std::int32_t, kProductColumns> any;
  std::memcpy(any.data(), &bad, sizeof(any));
  return std::ranges::all_of(any, [](std::int32_t lane) { return lane == 0; });
}

FATUNE_INLINE void add_products(const FactorsA& a, const FactorsB& b, const Accumulators& c,
                                PairSums& sums) {
  for (std::size_t row = 0; row < kProductRows; ++row) {
    Integers greatest;
    load(greatest, &sums.greatest[row * kProductColumns]);
    greatest = greatest > kLeastPlain ? greatest : Integers{} + kLeastPlain;
    const Integers unit_bits = (127 + kSumFractionBits - greatest) << 23;
    const auto units = reinterpret_cast<Floats>(unit_bits);
    Floats accumulators;
    load(accumulators, &c[row * kProductColumns]);
    Integers even = __builtin_convertvector(accumulators * units, Integers);
    Integers odd{};
    for (std::size_t k = 0; k < kProductDepth; k += 2) {
      Floats factors;
      load(factors, &b.values[k * kProductColumns]);
      even +=
          __builtin_convertvector(a.values[row * kProductDepth + k] * factors * units, Integers);
      load(factors, &b.values[(k + 1) * kProductColumns]);
      odd += __builtin_convertvector(a.values[row * kProductDepth + k + 1] * factors * units,
                                     Integers);
    }
    std::memcpy(&sums.even[row * kProductColumns], &even, sizeof(even));
    std::memcpy(&sums.odd[row * kProductColumns], &odd, sizeof(odd));
  }
}

FATUNE_INLINE double value_of(const PairSums& sums, std::size_t i) {
  const double sum = static_cast<double>(sums.even[i]) + static_cast<double>(sums.odd[i]);
  const std::int64_t exponent =
      std::max(sums.greatest[i], kLeastPlain) - std::int64_t{kSumFractionBits};
  const auto biased = static_cast<std::uint64_t>(exponent + 1023);
  return sum * std::bit_cast<double>(biased << 52U);
}

/// Truncates the sums to 24 bits. An accumulator below the range has only zero products, so it is
/// the result.
FATUNE_INLINE void set_singles(const PairSums& sums, Accumulators& c) {
  constexpr std::int64_t kCutOff = (std::int64_t{1} << (52 - 23)) - 1;
  for (std::size_t i = 0; i < c.size(); i += 4) {
    FourIntegers greatest;
    FourIntegers even;
    FourIntegers odd;
    load(greatest, &sums.greatest[i]);
    load(even, &sums.even[i]);
    load(odd, &sums.odd[i]);
    const FourDoubles sum =
        __builtin_convertvector(even, FourDoubles) + __builtin_convertvector(odd, FourDoubles);
    const FourLongs kept = reinterpret_cast<FourLongs>(sum) & ~kCutOff;
    const FourIntegers plain = greatest > kLeastPlain ? greatest : FourIntegers{} + kLeastPlain;
    const FourLongs unit_bits =
        __builtin_convertvector(plain + (1023 - kSumFractionBits), FourLongs) << 52;
    const FourFloats singles = __builtin_convertvector(
        reinterpret_cast<FourDoubles>(kept) * reinterpret_cast<FourDoubles>(unit_bits), FourFloats);
    FourFloats accumulators;
    load(accumulators, &c[i]);
    const FourFloats results = greatest < kLeastPlain ? accumulators + 0.0F : singles;
    std::memcpy(&c[i], &results, sizeof(results));
  }
}

}  // namespace

FATUNE_WIDE_VECTORS void set_factors(Factor type, std::span<const std::uint16_t> bits,
                                     std::span<float> values, std::span<std::int32_t> exponents) {
  if (type == Factor::bf16) {
    return set_factors_as(bits, values, exponents, least_exponent(type), from_bfloat);
  }
  set_factors_as(bits, values, exponents, least_exponent(type), from_half);
}

FATUNE_WIDE_VECTORS void set_factors(std::span<const std::uint32_t> bits, std::span<float> values,
                                     std::span<std::int32_t> exponents) {
  set_factors_as(bits, values, exponents, least_exponent(Factor::tf32),
                 [](std::uint32_t element) { return std::bit_cast<float>(element & 0xffffe000U); });
}

FactorsA factors_of_rows(Factor type, const Words<kProductRows>& rows, std::size_t part) {
  FactorsA factors;
  set_factors(type, halves_of<kProductRows>(rows, type, part), factors);
  return factors;
}

FactorsB factors_of_columns(Factor type, const Words<kProductColumns>& columns, std::size_t part) {
  constexpr std::size_t kBlock = 8;  // of k, for 8 columns
  const auto halves = halves_of<kProductColumns>(columns, type, part);
  std::array<std::uint16_t, FactorsB::kCount> rows;
  for (std::size_t k = 0; k < kProductDepth; k += kBlock) {
    std::uint16_t* const block = rows.data() + k * kProductColumns;
    for (std::size_t column = 0; column < kProductColumns; ++column) {
      std::copy_n(halves.data() + column * kProductDepth + k, kBlock, block + column * kBlock);
    }
    transpose_8x8(block);
  }
  FactorsB factors;
  set_factors(type, rows, factors);
  return factors;
}

float multiply_add_one(Accumulator type, const FactorsA& a, std::size_t row, const FactorsB& b,
                       std::size_t column, float c) {
  const auto at_a = [&](std::size_t k) { return row * kProductDepth + k; };
  const auto at_b = [&](std::size_t k) { return k * kProductColumns + column; };
  const auto product = [&](std::size_t k) {
    return static_cast<double>(a.values[at_a(k)]) * static_cast<double>(b.values[at_b(k)]);
  };
  std::int32_t greatest = exponent_of(c, least_exponent(type));
  double plain = static_cast<double>(c);
  for (std::size_t k = 0; k < kProductDepth; ++k) {
    greatest = std::max(greatest, a.exponents[at_a(k)] + b.exponents[at_b(k)]);
    plain += product(k);
  }
  if (!std::isfinite(plain)) {
    return std::isnan(plain) ? std::bit_cast<float>(kNaN) : static_cast<float>(plain);
  }
  if (greatest < kZeroExponent / 2) {
    return 0.0F;
  }
  const auto cut = [&](double value) {
    return std::trunc(std::ldexp(value, kSumFractionBits - greatest));
  };
  double sum = cut(static_cast<double>(c));
  for (std::size_t k = 0; k < kProductDepth; ++k) {
    sum += cut(product(k));
  }
  sum = std::ldexp(sum, greatest - kSumFractionBits);
  return type == Accumulator::f16 ? rounded_to_half(sum) : truncated(sum);
}

FATUNE_WIDE_VECTORS void multiply_add(Accumulator type, const FactorsA& a, const FactorsB& b,
                                      Accumulators& c) {
  PairSums sums;
  if (!align_products(a, b, type, c, sums)) {
    for (std::size_t i = 0; i < c.size(); ++i) {
      c[i] = multiply_add_one(type, a, i / kProductColumns, b, i % kProductColumns, c[i]);
    }
    return;
  }
  add_products(a, b, c, sums);
  if (type == Accumulator::f32) {
    return set_singles(sums, c);
  }
  for (std::size_t i = 0; i < c.size(); ++i) {
    c[i] = sums.greatest[i] < kLeastPlain ? c[i] + 0.0F : rounded_to_half(value_of(sums, i));
  }
}

}  // namespace fatune::emulate
