#include <array>
#include <cstdint>
#include <cstring>

#include "emulate/memory/memory_access.hpp"
#include "emulate/memory/memory_order.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/schedule/vain_polls.hpp"
#include "emulate/values/float_functions.hpp"
#include "emulate/values/half.hpp"
#include "emulate/values/integer_functions.hpp"

// atom and red: PTX ISA 9.0, sections 9.7.13.3 and 9.7.13.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::uint32_t kMostVectorBytes = 16;

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

/// The new value of an integer of type T.
template <typename T>
T updated(Update update, T before, T b, T c) {
  switch (update) {
    case Update::add:
      return Add{}(before, b);
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
      return before >= b ? T{0} : Add{}(before, T{1});
    case Update::decrement:
      break;
  }
  return before == 0 || before > b ? b : Sub{}(before, T{1});
}

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
void update_memory(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto shape = instruction.details_as<AtomicShape>();
  const std::uint32_t bytes = shape.element_bytes();
  const bool wide = bytes == 8;
  const Operand* const to = instruction.operands;
  const Operand* const base = to + (shape.returns ? shape.count : 0);
  const auto lane_of = [&](const Operand& operand, int lane) {
    return wide ? x.lanes<std::uint64_t>(warp, operand)[lane]
                : std::uint64_t{x.lanes<std::uint32_t>(warp, operand)[lane]};
  };
  PollDigest digest(x.index_of(instruction), mask);
  bool changes = false;
  std::uint64_t last_address = 0;
  for_each_lane(mask, [&](int lane) {
    const std::uint64_t address = x.address(warp, base, lane);
    digest.add(last_address = address);
    const Access access{shape.space, address, bytes * shape.count, bytes * shape.count};
    const Space space = shape.space == Space::generic ? space_of_generic(address) : shape.space;
    std::array<std::uint8_t, kMostVectorBytes> memory{};
    StrongAccess strong(x, warp, access, shape.order);
    read_memory({x, warp, instruction, lane}, access, memory.data());
    strong.reads();
    for (std::size_t i = 0; i < shape.count; ++i) {
      std::uint64_t before = 0;
      std::memcpy(&before, memory.data() + i * bytes, bytes);
      const std::uint64_t b = lane_of(base[2 + i], lane);
      const std::uint64_t c = shape.update == Update::compare ? lane_of(base[3], lane) : 0;
      const std::uint64_t after = result_of(shape, space, before, b, c);
      digest.add(before);
      changes = changes || std::memcmp(memory.data() + i * bytes, &after, bytes) != 0;
      std::memcpy(memory.data() + i * bytes, &after, bytes);
      if (shape.returns && wide) {
        x.lanes<std::uint64_t>(warp, to[i])[lane] = before;
      } else if (shape.returns) {
        x.lanes<std::uint32_t>(warp, to[i])[lane] = static_cast<std::uint32_t>(before);
      }
    }
    write_memory({x, warp, instruction, lane}, access, memory.data());
    strong.writes();
  });
  if (changes) {
    ++x.launch.changes;
  } else if (shape.returns) {
    note_poll(x, warp, digest, last_address);
  }
}

bool is_allowed(Update update, ScalarType type) {
  switch (update) {
    case Update::add:
      return type != b16 && type != b32 && type != b64;
    case Update::min:
    case Update::max:
      return type == u32 || type == s32 || type == u64 || type == s64;
    case Update::conjunction:
    case Update::disjunction:
    case Update::exclusive:
    case Update::exchange:
      return type == b32 || type == b64;
    case Update::compare:
      return type == b16 || type == b32 || type == b64;
    default:
      return type == u32;
  }
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

}  // namespace

void decode_atomic(Decoder& d) {
  const AtomicShape shape = atomic_shape_of(d);
  const ScalarType t = size_of(shape.type) == 8 ? b64 : size_of(shape.type) == 2 ? b16 : shape.type;
  const std::size_t first = shape.returns ? 1 : 0;
  if (shape.returns) {
    d.add(d.destinations(0, t));
  }
  d.add_address(d.address(first));
  d.add(d.values(first + 1, t));
  if (d.result_operands.size() != (shape.returns ? 2U : 1U) * shape.count + 2) {
    d.malformed("wrong number of registers");
  }
  if (shape.update == Update::compare) {
    d.add(d.value(first + 2, t));
  }
  d.result.handler = &update_memory;
  d.result.set_details(shape);
}

}  // namespace fatune::emulate
