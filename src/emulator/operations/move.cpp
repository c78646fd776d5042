#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "emulator/memory/memory_access.hpp"
#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"

// Moves, conversions of addresses between spaces, clocks, and instructions that do not affect
// results: PTX ISA 9.0, sections 9.7.9, 9.7.19 and 10.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr auto kSame = [](auto a) { return a; };

// --- mov of vectors: packs {a, b} into one register, or unpacks it ---

struct VectorShape {
  std::uint32_t bits = 0;  ///< the size of a part
  std::uint32_t count = 0;

  [[nodiscard]] bool wide() const { return bits * count == 64; }
  [[nodiscard]] std::uint64_t part_mask() const { return (std::uint64_t{1} << bits) - 1; }
};

void pack(const Step& step) {
  const auto shape = step.instruction.details_as<VectorShape>();
  step.for_each([&](int lane) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < shape.count; ++i) {
      // The bits above a narrow part may be copies of its sign.
      value |= (step.words(1 + i)[lane] & shape.part_mask()) << (shape.bits * i);
    }
    step.set_value(0, lane, shape.wide(), value);
  });
}

void unpack(const Step& step) {
  const auto shape = step.instruction.details_as<VectorShape>();
  step.for_each([&](int lane) {
    const std::uint64_t value = step.value(shape.count, lane, shape.wide());
    for (std::uint32_t i = 0; i < shape.count; ++i) {
      step.words(i)[lane] =
          static_cast<std::uint32_t>(value >> (shape.bits * i) & shape.part_mask());
    }
  });
}

void decode_mov_vector(Decoder& d, bool packs) {
  const int bytes = size_of(d.type());
  const auto count =
      static_cast<std::size_t>(1 + std::ranges::count(d.operand(packs ? 1 : 0), ','));
  const ScalarType part = bytes / static_cast<int>(count) == 4 ? b32 : b16;
  d.unsupported_if((bytes != 4 && bytes != 8) || static_cast<int>(count) * size_of(part) != bytes,
                   "this vector");
  if (packs) {
    d.handle(&pack).to(0, d.type()).from_all(1, part, count);
  } else {
    d.handle(&unpack).to_all(0, part, count).from(1, d.type());
  }
  d.result.set_details(VectorShape{static_cast<std::uint32_t>(8 * size_of(part)),
                                   static_cast<std::uint32_t>(count)});
}

/// Reads a clock. The time advances at every read, and has no meaning.
template <typename Lane>
void read_clock(const Step& step) {
  constexpr std::uint64_t kBetweenReads = 64;
  const std::uint64_t now = ++step.x.clock_reads * kBetweenReads;
  auto* const to = step.lanes<Lane>(0);
  step.for_each([&](int lane) { to[lane] = static_cast<Lane>(now >> step.instruction.variant); });
}

struct Clock {
  std::string_view name;
  bool wide = false;
  bool upper = false;
};
constexpr std::array kClocks{Clock{"%clock"},          Clock{"%clock_hi", false, true},
                             Clock{"%clock64", true},  Clock{"%globaltimer", true},
                             Clock{"%globaltimer_lo"}, Clock{"%globaltimer_hi", false, true}};

void decode_clock(Decoder& d, const Clock& clock) {
  d.malformed_if(clock.wide != (size_of(d.type()) == 8), "the clock has a different width");
  d.handle(clock.wide ? &read_clock<std::uint64_t> : &read_clock<std::uint32_t>,
           clock.upper ? 32 : 0);
  d.to(0, d.type());
}

void decode_mov(Decoder& d) {
  if (d.type() == pred) {
    d.handle([](const Step& step) { step.set_predicate(0, step.condition(1), step.mask); });
    d.sets(0).asks(1);
    return;
  }
  const auto* const clock = std::ranges::find(kClocks, d.operand(1), &Clock::name);
  if (clock != kClocks.end()) {
    return decode_clock(d, *clock);
  }
  const bool packs = d.operand(1).starts_with('{');
  if (packs || d.operand(0).starts_with('{')) {
    return decode_mov_vector(d, packs);
  }
  d.use(size_of(d.type()) == 8 ? &lane_wise<kSame, std::uint64_t, std::uint64_t>
                               : &lane_wise<kSame, std::uint32_t, std::uint32_t>,
        d.type(), {d.type()});
}

/// Sets predicates that tell whether generic addresses are in the space of `variant`.
void test_space(const Step& step) {
  const auto* const from = step.wide_words(1);
  const Mask result = lanes_where(step.mask, [&](int lane) {
    return static_cast<std::uint32_t>(space_of_generic(from[lane])) == step.instruction.variant;
  });
  step.set_predicate(0, result, step.mask);
}

/// Decodes conversions between generic addresses and those of a space. Operands are (to, from).
void decode_cvta(Decoder& d) {
  const bool to_space = d.has("to");
  const std::uint64_t window = d.has("shared")  ? kSharedWindow
                               : d.has("local") ? kLocalWindow
                               : d.has("param") ? kParameterWindow
                                                : 0;
  d.unsupported_if(d.type() != u64, "only .u64");
  d.use(&lane_wise<std::plus<>{}, std::uint64_t, std::uint64_t, std::uint64_t>, u64, {u64});
  d.add(d.names.constant(to_space ? 0 - window : window, true));
}

void decode_isspacep(Decoder& d) {
  d.unsupported_if(d.one_of({"const", "shared::cluster"}).has_value(), "this space");
  d.handle(&test_space, d.has("shared")  ? Space::shared
                        : d.has("local") ? Space::local
                        : d.has("param") ? Space::parameter
                                         : Space::global);
  d.sets(0).from(1, u64);
}

/// A cache policy has no effect.
void decode_createpolicy(Decoder& d) {
  d.handle(&lane_wise<kSame, std::uint64_t, std::uint64_t>).to(0, b64);
  d.add(d.names.constant(std::uint64_t{1} << 60U, true));
}

void decode_hint(Decoder& d) { d.handle(&do_nothing); }

}  // namespace

void do_nothing(const Step&) {}

Operations move_operations() {
  return {{"applypriority", decode_hint},
          {"createpolicy", decode_createpolicy},
          {"cvta", decode_cvta},
          {"discard", decode_hint},
          {"griddepcontrol", decode_hint},
          {"isspacep", decode_isspacep},
          {"mov", decode_mov},
          {"nanosleep", decode_hint},
          {"pmevent", decode_hint},
          {"prefetch", decode_hint},
          {"prefetchu", decode_hint}};
}

}  // namespace fatune::emulate
