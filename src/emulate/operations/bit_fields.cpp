#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"

// Fields and counts of bits: PTX ISA 9.0, section 9.7.1.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// 32-bit fields use the low 8 bits of position and length; 64-bit fields use all bits.
template <typename T>
constexpr std::uint32_t kFieldMask = sizeof(T) == 8 ? ~0U : 0xffU;

struct InsertField {
  template <typename T>
  T operator()(T a, T b, std::uint32_t position, std::uint32_t length) const {
    const std::uint32_t at = position & kFieldMask<T>;
    const std::uint32_t count = length & kFieldMask<T>;
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if (at >= kBits || count == 0) {
      return b;
    }
    const T field = count >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
    const T mask = static_cast<T>(field << at);
    return static_cast<T>((b & ~mask) | ((a << at) & mask));
  }
};
struct ExtractField {
  template <typename T>
  T operator()(T a, std::uint32_t position, std::uint32_t length) const {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t at = std::min(position & kFieldMask<T>, kBits);
    const std::uint32_t count = std::min(length & kFieldMask<T>, kBits);
    if (count == 0) {
      return 0;
    }
    const std::uint32_t top = std::min(at + count - 1, kBits - 1);
    const bool sign = std::is_signed_v<T> && ((a >> top) & 1) != 0;
    T value = 0;
    for (std::uint32_t i = 0; i < kBits; ++i) {
      const bool inside = i < count && at + i < kBits;
      const bool bit = inside ? ((a >> (at + i)) & 1) != 0 : sign;
      using U = std::make_unsigned_t<T>;
      value = static_cast<T>(static_cast<U>(value) | static_cast<U>(U{bit} << i));
    }
    return value;
  }
};

struct CountOnes {
  template <typename T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct CountLeadingZeros {
  template <typename T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct ReverseBits {
  template <typename T>
  T operator()(T a) const {
    T value = 0;
    for (std::size_t i = 0; i < 8 * sizeof(T); ++i) {
      value = static_cast<T>(value << 1U | (a >> i & 1U));
    }
    return value;
  }
};

/// The position of the highest one, or of a negative number's highest zero. All ones: there is
/// none. With kShift, its distance from the top.
template <bool kShift>
struct FindHighest {
  template <typename T>
  std::uint32_t operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const auto bits = static_cast<U>(a < 0 ? ~a : a);
    constexpr auto kTop = static_cast<std::uint32_t>(8 * sizeof(T) - 1);
    if (bits == 0) {
      return ~0U;
    }
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
    return kShift ? zeros : kTop - zeros;
  }
};

/// Decodes an instruction that counts bits, of a value of one of kTypes.
template <typename F, ScalarType... kTypes>
void use_count(Decoder& d) {
  const Handler handler = handler_for<kTypes...>(
      d, d.type(), []<typename T>() { return &lane_wise<F, std::uint32_t, T>; });
  use(d, handler, u32, {d.type()});
}

/// `width` ones from `start` on.
std::uint32_t field_of_ones(std::uint32_t start, std::uint32_t width) {
  const std::uint64_t ones = (std::uint64_t{1} << width) - 1;
  return static_cast<std::uint32_t>(ones << start);
}
std::uint32_t mask_clamped(std::uint32_t start, std::uint32_t width) {
  return field_of_ones(std::min(start, 32U), std::min(width, 32U));
}
std::uint32_t mask_wrapped(std::uint32_t start, std::uint32_t width) {
  return field_of_ones(start & 31U, width & 31U);
}

/// The lower `width` bits, sign-extended or zero-extended according to T.
template <typename T, bool kWraps>
T extend(T a, std::uint32_t width) {
  const std::uint32_t count = kWraps ? width & 31U : std::min(width, 32U);
  if (count == 0) {
    return 0;
  }
  const std::uint32_t unused = 32 - count;
  return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(a) << unused) >> unused);
}

template <typename T>
void use_extend(Decoder& d) {
  return d.has("wrap") ? use_function<&extend<T, true>>(d) : use_function<&extend<T, false>>(d);
}

/// The position of the |offset|-th one from `base` on, upwards, or downwards if `offset` is
/// negative. If `offset` is 0, `base` if that bit is one. All ones: there is none.
/// source: PTX ISA 9.0, section 9.7.1.17 (fns)
std::uint32_t find_nth(std::uint32_t bits, std::uint32_t base, std::int32_t offset) {
  const int step = offset < 0 ? -1 : 1;
  std::int64_t left = offset == 0 ? 0 : std::abs(std::int64_t{offset}) - 1;
  for (std::int64_t at = base; at >= 0 && at < kLanes; at += step) {
    if ((bits >> at & 1U) != 0 && left-- == 0) {
      return static_cast<std::uint32_t>(at);
    }
    if (offset == 0) {
      break;
    }
  }
  return ~0U;
}

void decode_bfi(Decoder& d) {
  const ScalarType t = d.type();
  const Handler handler = handler_for<b32, b64>(d, t, []<typename T>() {
    return &lane_wise<InsertField, T, T, T, std::uint32_t, std::uint32_t>;
  });
  use(d, handler, t, {t, t, u32, u32});
}

void decode_bfe(Decoder& d) {
  const ScalarType t = d.type();
  const Handler handler = handler_for<u32, s32, u64, s64>(d, t, []<typename T>() {
    return &lane_wise<ExtractField, T, T, std::uint32_t, std::uint32_t>;
  });
  use(d, handler, t, {t, u32, u32});
}

void decode_brev(Decoder& d) {
  const Handler handler = handler_for<b32, b64>(
      d, d.type(), []<typename T>() { return &lane_wise<ReverseBits, T, T>; });
  use(d, handler, d.type(), {d.type()});
}

void decode_bfind(Decoder& d) {
  return d.has("shiftamt") ? use_count<FindHighest<true>, u32, s32, u64, s64>(d)
                           : use_count<FindHighest<false>, u32, s32, u64, s64>(d);
}

void decode_bmsk(Decoder& d) {
  return d.has("wrap") ? use_function<&mask_wrapped>(d) : use_function<&mask_clamped>(d);
}

void decode_szext(Decoder& d) {
  d.unsupported_if(d.type() != u32 && d.type() != s32, "this type");
  return d.type() == u32 ? use_extend<std::uint32_t>(d) : use_extend<std::int32_t>(d);
}

}  // namespace

std::span<const NamedOperation> bit_field_operations() {
  static constexpr NamedOperation kOperations[] = {{"bfe", decode_bfe},
                                                   {"bfi", decode_bfi},
                                                   {"bfind", decode_bfind},
                                                   {"bmsk", decode_bmsk},
                                                   {"brev", decode_brev},
                                                   {"clz", use_count<CountLeadingZeros, b32, b64>},
                                                   {"fns", use_function<&find_nth>},
                                                   {"popc", use_count<CountOnes, b32, b64>},
                                                   {"szext", decode_szext}};
  return kOperations;
}

}  // namespace fatune::emulate
