#include "conformance/operand_values.hpp"

#include <bit>
#include <string_view>

namespace fatune::conformance {
namespace {

constexpr std::uint64_t mixed(std::uint64_t value) {  // splitmix64's last steps
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// FNV-1a.
constexpr std::uint64_t hash_of_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

/// Random bits that depend only on the seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return mixed(state_ += 0x9e3779b97f4a7c15U); }
  std::uint64_t below(std::uint64_t limit) { return bits() % limit; }

 private:
  std::uint64_t state_;
};

using Edges = std::vector<std::uint64_t>;

Edges integer_edges(unsigned width) {
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - width);
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  return {0,
          1,
          2,
          3,
          7,
          most,
          most - 1,
          most - 6,
          top,
          top + 1,
          top - 1,
          top - 2,
          top >> 1U,
          (std::uint64_t{1} << width / 2),
          (std::uint64_t{1} << width / 2) - 1,
          0x5555555555555555U & most,
          0xaaaaaaaaaaaaaaaaU & most,
          0x0123456789abcdefU & most,
          0x7f & most,
          0x80 & most,
          0xff80U & most,
          100};
}

/// Edge values of a format with these numbers of exponent and fraction bits, with both signs.
Edges float_edges(unsigned exponent, unsigned fraction) {
  const std::uint64_t one = ((std::uint64_t{1} << (exponent - 1)) - 1) << fraction;
  const std::uint64_t infinite = ((std::uint64_t{1} << exponent) - 1) << fraction;
  const std::uint64_t unit = std::uint64_t{1} << fraction;  // one step of the exponent
  const std::uint64_t quiet = unit >> 1U;
  const Edges positive{0,
                       1,         // the least subnormal
                       unit - 1,  // the greatest subnormal
                       unit,      // the least normal
                       unit + 1,
                       quiet,  // a subnormal
                       one,
                       one + 1,
                       one - 1,
                       one - unit,                       // 0.5
                       one + quiet,                      // 1.5
                       one + unit,                       // 2
                       one + unit + (unit >> 2U),        // 2.5
                       one + unit + quiet,               // 3
                       one + unit * 7,                   // 128
                       one + unit * (fraction - 1) + 1,  // integers whose ties are halves
                       one + unit * (fraction - 1) + 3,
                       one + unit * fraction + 1,
                       infinite - 1,  // the greatest finite value
                       infinite - unit,
                       infinite,
                       infinite + quiet + (quiet >> 1U) + 1,  // quiet NaN
                       infinite + 1};                         // signalling NaN
  Edges all;
  for (const std::uint64_t value : positive) {
    all.push_back(value);
    all.push_back(value | std::uint64_t{1} << (exponent + fraction));
  }
  return all;
}

/// Edge values of single precision, including those where the results of conversions change.
Edges single_edges() {
  Edges all = float_edges(8, 23);
  for (const float value : {2147483648.0F,  2147483520.0F, -2147483648.0F,
                            -2147483904.0F, 4294967296.0F, 4294967040.0F,
                            0x1p63F,        -0x1p63F,      0x1p64F,
                            65504.0F,       65519.996F,    65520.0F,
                            -65536.0F,      0x1p-14F,      0x1.ffcp-15F,
                            0x1p-24F,       0x1p-25F,      0x1.000002p-25F,
                            0x1.8p-24F,     255.5F,        -128.5F,
                            448.0F,         464.0F,        465.0F,
                            57344.0F,       61440.0F,      0x1p-9F,
                            0x1p-10F,       0x1.004p0F,    0x1.00cp0F,
                            0x1.01p0F,      0x1.001p0F,    0x1.003p0F,
                            0.1F,           127.0F,        -126.0F,
                            -149.5F,        88.7F}) {
    all.push_back(std::bit_cast<std::uint32_t>(value));
  }
  return all;
}

Edges real_edges() {
  Edges all = float_edges(11, 52);
  for (const double value : {2147483647.5,
                             2147483648.0,
                             -2147483648.5,
                             4294967295.5,
                             4294967296.0,
                             0x1p63,
                             -0x1p63,
                             0x1p64,
                             0x1.fffffffffffffp62,
                             65519.999,
                             65520.0,
                             0x1.ffffffp127,
                             0x1.fffffefp127,
                             0x1p128,
                             0x1p-126,
                             0x1.fffffffp-127,
                             0x1p-149,
                             0x1p-150,
                             0x1.0000000000001p-150,
                             0x1.000001p0,
                             0x1.000003p0,
                             0x1.0000010000001p0,
                             0x1p-25,
                             0x1.002p0,
                             0x1.006p0,
                             0.1}) {
    all.push_back(std::bit_cast<std::uint64_t>(value));
  }
  return all;
}

const Edges& count_edges() {
  static const Edges edges{0,   1,   2,   5,   7,      8,           15,         16,
                           31,  32,  33,  63,  64,     65,          127,        128,
                           254, 255, 256, 257, 0x1f00, 0x80000000U, 0xffffffffU};
  return edges;
}

const Edges& clamp_edges() {
  static const Edges edges{0x1f, 0, 0x1c1f, 0x181f, 0x101f, 0x1e00, 0x1c00, 0x1800, 0x1e1f, 0x7};
  return edges;
}

unsigned width_of(Storage storage) {
  return storage == Storage::b16 ? 16 : storage == Storage::b64 ? 64 : 32;
}

const Edges& edges_of(const Kind& kind) {
  static const Edges none{};
  static const Edges short_integers = integer_edges(16);
  static const Edges integers = integer_edges(32);
  static const Edges long_integers = integer_edges(64);
  static const Edges halves = float_edges(5, 10);
  static const Edges bfloats = float_edges(8, 7);
  static const Edges singles = single_edges();
  static const Edges reals = real_edges();
  if (kind.range == Range::near) {
    return none;
  }
  switch (kind.domain) {
    case Domain::bits:
      return kind.storage == Storage::b16   ? short_integers
             : kind.storage == Storage::b64 ? long_integers
                                            : integers;
    case Domain::half:
      return halves;
    case Domain::bfloat:
      return bfloats;
    case Domain::single:
      return singles;
    case Domain::real:
      return reals;
    case Domain::count:
      return count_edges();
    case Domain::clamp:
      return clamp_edges();
    default:
      return none;
  }
}

/// Numbers with exponents from 2^-8 to 2^7, and any sign and fraction.
std::uint64_t moderate(Random& random, unsigned exponent, unsigned fraction) {
  const std::uint64_t bias = (std::uint64_t{1} << (exponent - 1)) - 1;
  const std::uint64_t sign = random.below(2) << (exponent + fraction);
  const std::uint64_t bits = random.bits() & ((std::uint64_t{1} << fraction) - 1);
  return sign | (bias - 8 + random.below(16)) << fraction | bits;
}

std::uint64_t moderate_value(const Kind& kind, Random& random) {
  switch (kind.domain) {
    case Domain::half:
      return moderate(random, 5, 10);
    case Domain::bfloat:
      return moderate(random, 8, 7);
    case Domain::single:
      return moderate(random, 8, 23);
    case Domain::real:
      return moderate(random, 11, 52);
    case Domain::bits:
      return random.below(64) - 16;
    default:
      return random.bits();
  }
}

/// A value of a type that has no edges of its own.
std::uint64_t small_domain(const Kind& kind, Random& random) {
  switch (kind.domain) {
    case Domain::lane:
      return random.below(32);
    case Domain::few:
      return random.below(3);
    case Domain::truth:
      return random.below(2);
    case Domain::selector:
      return random.below(8);
    case Domain::clamp:
      return clamp_edges()[random.below(clamp_edges().size())];
    case Domain::count:
      return random.below(70);
    case Domain::turn: {
      constexpr float kTurn = 6.2831853F;
      const float part = static_cast<float>(random.below(1U << 24U)) * 0x1p-24F;
      return std::bit_cast<std::uint32_t>((2.0F * part - 1.0F) * kTurn);
    }
    default:
      return random.bits();
  }
}

bool is_small(Domain domain) { return domain >= Domain::count; }

/// The `which`-th combination of edges, as a number with one digit for each operand. If there are
/// too many combinations to count, the edges are random.
class Combination {
 public:
  Combination(const Case& one, std::uint64_t which) {
    for (const Kind& kind : one.operands) {
      const std::size_t edges = edges_of(kind).size();
      all_ = edges == 0 || all_ > kMost ? all_ : all_ * edges;
    }
    exhausted_ = which >= all_;
    // Steps by a prime that divides none of the sizes visit every combination, in a mixed order.
    rest_ = which % all_ * kStep % all_;
  }
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  std::uint64_t next(const Edges& edges, Random& random) {
    if (all_ > kMost) {
      return edges[random.below(edges.size())];
    }
    const std::uint64_t edge = edges[rest_ % edges.size()];
    rest_ /= edges.size();
    return edge;
  }

 private:
  static constexpr std::uint64_t kStep = 1'000'003;
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 32U;
  std::uint64_t all_ = 1;
  std::uint64_t rest_ = 0;
  bool exhausted_ = false;
};

bool is_packed(const Kind& kind) {
  return kind.storage == Storage::b32 &&
         (kind.domain == Domain::half || kind.domain == Domain::bfloat);
}

unsigned exponent_bits(Domain domain) {
  return domain == Domain::half ? 5 : domain == Domain::real ? 11 : 8;
}

/// Any bits except the exponent of infinities.
std::uint64_t finite_value(const Kind& kind, Random& random) {
  constexpr std::uint64_t kSeldom = 256;
  const Edges& edges = edges_of(kind);
  if (random.below(kSeldom) == 0) {
    return edges[random.below(edges.size())];
  }
  const unsigned width = is_packed(kind) ? 16 : width_of(kind.storage);
  const unsigned fraction = width - 1 - exponent_bits(kind.domain);
  const std::uint64_t infinite = ((std::uint64_t{1} << exponent_bits(kind.domain)) - 1) << fraction;
  const std::uint64_t bits = random.bits();
  return (bits & infinite) == infinite ? bits ^ infinite : bits;
}

/// One value, or one half of a packed value.
std::uint64_t value_of(const Kind& kind, std::size_t tuple, Combination& edges, Random& random) {
  if (kind.range == Range::finite) {
    return finite_value(kind, random);
  }
  if (is_small(kind.domain) && (edges_of(kind).empty() || tuple % 2 == 1)) {
    return small_domain(kind, random);
  }
  if (kind.range == Range::near || tuple % 4 == 3) {
    return moderate_value(kind, random);
  }
  if (tuple % 2 == 0 && !edges.exhausted() && !edges_of(kind).empty()) {
    return edges.next(edges_of(kind), random);
  }
  return random.bits();
}

/// The other half of a packed value: any edge, or a value in the range.
std::uint64_t second_half(const Kind& kind, std::size_t tuple, Random& random) {
  const Edges& edges = edges_of(kind);
  if (kind.range == Range::all && tuple % 2 == 0) {
    return edges[random.below(edges.size())];
  }
  return kind.range == Range::finite ? finite_value(kind, random) : moderate_value(kind, random);
}

std::uint64_t cut(std::uint64_t value, unsigned width) {
  return value & (~std::uint64_t{0} >> (64 - width));
}

}  // namespace

std::vector<std::uint64_t> operand_values(const Case& one, std::size_t tuples) {
  const std::uint64_t seed = hash_of_text(one.text);
  std::vector<std::uint64_t> values;
  values.reserve(tuples * one.operands.size());
  for (std::size_t tuple = 0; tuple < tuples; ++tuple) {
    Random random(mixed(seed + tuple));
    Combination edges(one, tuple / 2);
    for (const Kind& kind : one.operands) {
      const std::uint64_t value = value_of(kind, tuple, edges, random);
      values.push_back(is_packed(kind)
                           ? cut(second_half(kind, tuple, random), 16) << 16U | cut(value, 16)
                           : cut(value, width_of(kind.storage)));
    }
  }
  return values;
}

std::uint64_t hash_of(const std::vector<std::uint64_t>& values) {
  std::uint64_t hash = 0;
  for (const std::uint64_t value : values) {
    hash = mixed(hash ^ value) + 0x9e3779b97f4a7c15U;
  }
  return hash;
}

}  // namespace fatune::conformance
