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
  switch (type) {
    case Factor::bf16:
    case Factor::tf32:
      return -126;
    case Factor::e4m3:
      return -6;
    case Factor::f16:
    case Factor::e5m2:
      break;
  }
  return -14;
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

/// The bits of a single with all but the first `places` after the point cut off.
FATUNE_INLINE std::int32_t kept_bits(std::int32_t places) { return -(1 << (23 - places)); }

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

/// The sums of a tile, as multiples of 2^(greatest - aligned_bits).
struct PairSums {
  alignas(32) std::array<std::int32_t, kProductRows * kProductColumns> greatest;
  alignas(32) std::array<std::int32_t, kProductRows * kProductColumns> even;  ///< C and even k
  alignas(32) std::array<std::int32_t, kProductRows * kProductColumns> odd;
};

/// Sets the greatest exponents. Returns false if any is outside the range of `add_products`.
FATUNE_INLINE bool align_products(const Summation& summation, std::span<const FactorsA> a,
                                  std::span<const FactorsB> b, const Accumulators& c,
                                  PairSums& sums) {
  for (std::size_t i = 0; i < c.size(); ++i) {
    sums.greatest[i] = exponent_of(c[i], least_exponent(summation.accumulator));
  }
  Integers bad{};
  for (std::size_t row = 0; row < kProductRows; ++row) {
    Integers products = Integers{} + 2 * kZeroExponent;
    for (std::size_t part = 0; part < a.size(); ++part) {
      for (std::size_t k = 0; k < kProductDepth; ++k) {
        Integers exponents;
        load(exponents, &b[part].exponents[k * kProductColumns]);
        exponents += a[part].exponents[row * kProductDepth + k];
        products = exponents > products ? exponents : products;
      }
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

FATUNE_INLINE void add_products(const Summation& summation, std::span<const FactorsA> a,
                                std::span<const FactorsB> b, const Accumulators& c,
                                PairSums& sums) {
  for (std::size_t row = 0; row < kProductRows; ++row) {
    Integers greatest;
    load(greatest, &sums.greatest[row * kProductColumns]);
    greatest = greatest > kLeastPlain ? greatest : Integers{} + kLeastPlain;
    const Integers unit_bits = (127 + summation.aligned_bits - greatest) << 23;
    const auto units = reinterpret_cast<Floats>(unit_bits);
    Floats accumulators;
    load(accumulators, &c[row * kProductColumns]);
    Integers even = __builtin_convertvector(accumulators * units, Integers);
    Integers odd{};
    for (std::size_t part = 0; part < a.size(); ++part) {
      const float* const row_values = &a[part].values[row * kProductDepth];
      for (std::size_t k = 0; k < kProductDepth; k += 2) {
        Floats factors;
        load(factors, &b[part].values[k * kProductColumns]);
        even += __builtin_convertvector(row_values[k] * factors * units, Integers);
        load(factors, &b[part].values[(k + 1) * kProductColumns]);
        odd += __builtin_convertvector(row_values[k + 1] * factors * units, Integers);
      }
    }
    std::memcpy(&sums.even[row * kProductColumns], &even, sizeof(even));
    std::memcpy(&sums.odd[row * kProductColumns], &odd, sizeof(odd));
  }
}

FATUNE_INLINE double value_of(const Summation& summation, const PairSums& sums, std::size_t i) {
  const double sum = static_cast<double>(sums.even[i]) + static_cast<double>(sums.odd[i]);
  const std::int64_t exponent =
      std::int64_t{std::max(sums.greatest[i], kLeastPlain)} - summation.aligned_bits;
  const auto biased = static_cast<std::uint64_t>(exponent + 1023);
  return sum * std::bit_cast<double>(biased << 52U);
}

/// Truncates the sums. An accumulator below the range has only zero products, so it is the sum.
FATUNE_INLINE void set_singles(const Summation& summation, const PairSums& sums, Accumulators& c) {
  const std::int64_t cut_off = (std::int64_t{1} << (52 - summation.result_bits)) - 1;
  for (std::size_t i = 0; i < c.size(); i += 4) {
    FourIntegers greatest;
    FourIntegers even;
    FourIntegers odd;
    load(greatest, &sums.greatest[i]);
    load(even, &sums.even[i]);
    load(odd, &sums.odd[i]);
    const FourDoubles sum =
        __builtin_convertvector(even, FourDoubles) + __builtin_convertvector(odd, FourDoubles);
    const FourLongs kept = reinterpret_cast<FourLongs>(sum) & ~cut_off;
    const FourIntegers plain = greatest > kLeastPlain ? greatest : FourIntegers{} + kLeastPlain;
    const FourLongs unit_bits =
        __builtin_convertvector(plain + (1023 - summation.aligned_bits), FourLongs) << 52;
    const FourFloats singles = __builtin_convertvector(
        reinterpret_cast<FourDoubles>(kept) * reinterpret_cast<FourDoubles>(unit_bits), FourFloats);
    FourIntegers accumulators;
    load(accumulators, &c[i]);
    const auto cut = reinterpret_cast<FourFloats>(accumulators & kept_bits(summation.result_bits));
    const FourFloats results = greatest < kLeastPlain ? cut + 0.0F : singles;
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

FactorsA factors_of_rows(Factor type, const Words<kProductRows>& rows, std::size_t part,
                         Factor aligned_as) {
  FactorsA factors;
  set_factors(aligned_as, halves_of<kProductRows>(rows, type, part), factors);
  return factors;
}

FactorsB factors_of_columns(Factor type, const Words<kProductColumns>& columns, std::size_t part,
                            Factor aligned_as) {
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
  set_factors(aligned_as, rows, factors);
  return factors;
}

float multiply_add_one(const Summation& summation, std::span<const FactorsA> a, std::size_t row,
                       std::span<const FactorsB> b, std::size_t column, float c) {
  const auto for_each_product = [&](const auto& visit) {
    for (std::size_t part = 0; part < a.size(); ++part) {
      for (std::size_t k = 0; k < kProductDepth; ++k) {
        const std::size_t at_a = row * kProductDepth + k;
        const std::size_t at_b = k * kProductColumns + column;
        visit(static_cast<double>(a[part].values[at_a]) * static_cast<double>(b[part].values[at_b]),
              a[part].exponents[at_a] + b[part].exponents[at_b]);
      }
    }
  };
  std::int32_t greatest = exponent_of(c, least_exponent(summation.accumulator));
  double plain = static_cast<double>(c);
  for_each_product([&](double product, std::int32_t exponent) {
    greatest = std::max(greatest, exponent);
    plain += product;
  });
  if (!std::isfinite(plain)) {
    return std::isnan(plain) ? std::bit_cast<float>(kNaN) : static_cast<float>(plain);
  }
  if (greatest < kZeroExponent / 2) {
    return 0.0F;
  }
  const auto cut = [&](double value) {
    return std::trunc(std::ldexp(value, summation.aligned_bits - greatest));
  };
  double sum = cut(static_cast<double>(c));
  for_each_product([&](double product, std::int32_t) { sum += cut(product); });
  sum = std::ldexp(sum, greatest - summation.aligned_bits);
  return summation.accumulator == Accumulator::f16
             ? rounded_to_half(sum)
             : std::bit_cast<float>(std::bit_cast<std::int32_t>(truncated(sum)) &
                                    kept_bits(summation.result_bits));
}

FATUNE_WIDE_VECTORS void multiply_add(const Summation& summation, std::span<const FactorsA> a,
                                      std::span<const FactorsB> b, Accumulators& c) {
  PairSums sums;
  if (!align_products(summation, a, b, c, sums)) {
    for (std::size_t i = 0; i < c.size(); ++i) {
      c[i] = multiply_add_one(summation, a, i / kProductColumns, b, i % kProductColumns, c[i]);
    }
    return;
  }
  add_products(summation, a, b, c, sums);
  if (summation.accumulator == Accumulator::f32) {
    return set_singles(summation, sums, c);
  }
  for (std::size_t i = 0; i < c.size(); ++i) {
    c[i] = sums.greatest[i] < kLeastPlain ? c[i] + 0.0F
                                          : rounded_to_half(value_of(summation, sums, i));
  }
}

}  // namespace fatune::emulate
