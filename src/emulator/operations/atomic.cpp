#include <array>
#include <cstdint>
#include <cstring>

#include "emulator/memory/clocks.hpp"
#include "emulator/memory/memory_access.hpp"
#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/floats.hpp"
#include "emulator/values/integers.hpp"

// atom and red: PTX ISA 9.0, sections 9.7.13.3 and 9.7.13.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::uint32_t kMostVectorBytes = 16;

/// The details of an atomic instruction.
struct AtomicShape {
  Update update = Update::add;
  ScalarType type = u32;
  Space space = Space::generic;
  std::uint8_t count = 1;  ///< elements of a vector
  MemoryOrder order;
  bool returns = true;

  [[nodiscard]] std::uint32_t element_bytes() const {
    return static_cast<std::uint32_t>(size_of(type));
  }
};

/// Adds single-precision numbers. Subnormals are flushed in global memory.
std::uint64_t single_sum(std::uint64_t a, std::uint64_t b, bool flushes) {
  const auto value = [&](std::uint64_t bits) {
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return flushes ? flush_subnormal(single) : single;
  };
  const float sum = canonical(value(a) + value(b));
  return std::bit_cast<std::uint32_t>(flushes ? flush_subnormal(sum) : sum);
}

/// Adds double-precision numbers. NaNs stay as they are in global memory.
std::uint64_t double_sum(std::uint64_t a, std::uint64_t b, bool keeps_nan) {
  const auto left = std::bit_cast<double>(a);
  const auto right = std::bit_cast<double>(b);
  if (keeps_nan && (std::isnan(left) || std::isnan(right))) {
    return std::isnan(right) ? b : a;
  }
  return std::bit_cast<std::uint64_t>(canonical_of(left + right, right, left));
}

/// Adds 16-bit floats. In double precision, the sum is exact or rounded to odd.
std::uint64_t half_sum(std::uint64_t a, std::uint64_t b, bool bfloat) {
  const auto value = [&](std::uint64_t bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    return static_cast<double>(bfloat ? from_bfloat(half) : from_half(half));
  };
  return narrowed(odd_sum(value(a), value(b)), bfloat ? kBfloatFormat : kHalfFormat,
                  Rounding::nearest);
}

std::uint64_t result_of(const AtomicShape& shape, Space space, std::uint64_t before,
                        std::uint64_t b, std::uint64_t c) {
  switch (shape.type) {
    case f32:
      return single_sum(before, b, space != Space::shared);
    case f64:
      return double_sum(before, b, space != Space::shared);
    case f16:
    case bf16:
      return half_sum(before, b, shape.type == bf16);
    case f16x2:
    case bf16x2: {
      const bool bfloat = shape.type == bf16x2;
      return half_sum(before >> 16U, b >> 16U, bfloat) << 16U | half_sum(before, b, bfloat);
    }
    default:
      break;
  }
  std::uint64_t result = 0;
  with_type<b16, b32, u32, s32, b64, u64, s64>(shape.type, [&]<typename T>() {
    const T after =
        updated(shape.update, static_cast<T>(before), static_cast<T>(b), static_cast<T>(c));
    result = static_cast<std::make_unsigned_t<T>>(after);
  });
  return result;
}

/// Operands: results if there are any, address, values, and for .cas the value to write.
void update_memory(const Step& step) {
  const auto shape = step.instruction.details_as<AtomicShape>();
  const std::uint32_t bytes = shape.element_bytes();
  const bool wide = bytes == 8;
  const std::size_t base = shape.returns ? shape.count : 0;
  PollDigest digest(step.index(), step.mask);
  bool changes = false;
  std::uint64_t last_address = 0;
  step.for_each([&](int lane) {
    const std::uint64_t address = step.address(base, lane);
    digest.add(last_address = address);
    const Access access{shape.space, address, bytes * shape.count, bytes * shape.count};
    const Space space = shape.space == Space::generic ? space_of_generic(address) : shape.space;
    std::array<std::uint8_t, kMostVectorBytes> memory{};
    StrongAccess strong(step, access, shape.order);
    read_memory(step.by(lane), access, memory.data());
    strong.reads();
    for (std::size_t i = 0; i < shape.count; ++i) {
      std::uint64_t before = 0;
      std::memcpy(&before, memory.data() + i * bytes, bytes);
      const std::uint64_t b = step.value(base + 2 + i, lane, wide);
      const std::uint64_t c =
          shape.update == Update::compare ? step.value(base + 3, lane, wide) : 0;
      const std::uint64_t after = result_of(shape, space, before, b, c);
      digest.add(before);
      changes = changes || std::memcmp(memory.data() + i * bytes, &after, bytes) != 0;
      std::memcpy(memory.data() + i * bytes, &after, bytes);
      if (shape.returns) {
        step.set_value(i, lane, wide, before);
      }
    }
    write_memory(step.by(lane), access, memory.data());
    strong.writes();
  });
  if (changes) {
    ++step.x.launch.changes;
  } else if (shape.returns) {
    step.note_poll(digest, last_address);
  }
}

bool is_allowed(Update update, ScalarType type) {
  const bool bits = type == b32 || type == b64;
  const auto one_of = [&](auto... updates) { return ((update == updates) || ...); };
  return one_of(Update::add)                            ? !bits && type != b16
         : one_of(Update::min, Update::max)             ? is_integer(type) && size_of(type) >= 4
         : one_of(Update::compare)                      ? bits || type == b16
         : one_of(Update::increment, Update::decrement) ? type == u32
                                                        : bits;
}

AtomicShape atomic_shape_of(const Decoder& d) {
  const auto update =
      d.one_of({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  const ScalarType type = d.type();
  d.unsupported_if(!update || size_of(type) < 2 || size_of(type) > 8 || d.has("async") ||
                       type == tf32 || !is_allowed(static_cast<Update>(*update), type),
                   "this form");
  AtomicShape shape;
  shape.update = static_cast<Update>(*update);
  shape.type = type;
  shape.space = d.has("global") ? Space::global : d.has("shared") ? Space::shared : Space::generic;
  shape.count = d.has("v8") ? 8 : d.has("v4") ? 4 : d.has("v2") ? 2 : 1;
  shape.order = order_of(d);
  shape.returns = d.name() == "atom";
  const bool vector = shape.count > 1;
  d.unsupported_if(d.has("shared::cluster") || (vector && (!is_float(type) || type == f64)) ||
                       shape.element_bytes() * shape.count > kMostVectorBytes,
                   "this form");
  return shape;
}

void decode_atomic(Decoder& d) {
  const AtomicShape shape = atomic_shape_of(d);
  const ScalarType t = size_of(shape.type) == 8 ? b64 : size_of(shape.type) == 2 ? b16 : shape.type;
  const std::size_t first = shape.returns ? 1 : 0;
  d.handle(&update_memory);
  if (shape.returns) {
    d.to_all(0, t, shape.count);
  }
  d.at(first).from_all(first + 1, t, shape.count);
  if (shape.update == Update::compare) {
    d.from(first + 2, t);
  }
  d.result.set_details(shape);
}

}  // namespace

Operations atomic_operations() { return {{"atom", decode_atomic}, {"red", decode_atomic}}; }

}  // namespace fatune::emulate
