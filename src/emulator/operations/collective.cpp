#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "emulator/operations/operations.hpp"
#include "emulator/values/integers.hpp"
#include "emulator/values/matrix_product.hpp"

// Instructions in which the lanes of a warp exchange values: shfl, vote, activemask, elect, match,
// redux and movmatrix: PTX ISA 9.0, sections 9.7.9.6, 9.7.13 and 9.7.14.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// The values of an operand before the instruction changes any.
template <typename Lane>
std::array<Lane, kLanes> copy_of(const Step& step, std::size_t operand) {
  std::array<Lane, kLanes> values{};
  std::copy_n(step.lanes<Lane>(operand), kLanes, values.begin());
  return values;
}

enum class Shuffle : std::uint32_t { up, down, bfly, idx };

/// The source lane of a shuffle, and whether it is in range.
struct Source {
  int lane = 0;
  bool in_range = false;
};

Source shuffle_source(Shuffle mode, int lane, std::uint32_t b, std::uint32_t c) {
  const auto clamp = static_cast<int>(c & 0x1fU);
  const auto segment = static_cast<int>(c >> 8U & 0x1fU);
  const auto by = static_cast<int>(b & 0x1fU);
  const int most = (lane & segment) | (clamp & ~segment);
  const int from = mode == Shuffle::up     ? lane - by
                   : mode == Shuffle::down ? lane + by
                   : mode == Shuffle::bfly ? lane ^ by
                                           : (lane & segment) | (by & ~segment);
  const bool in_range = mode == Shuffle::up ? from >= most : from <= most;
  return {in_range ? from : lane, in_range};
}

/// Operands: to, in range, value, b, c, members.
void shuffle(const Step& step) {
  const auto values = copy_of<std::uint32_t>(step, 2);
  const auto* const members = step.words(5);
  auto* const to = step.words(0);
  const Mask in_range = lanes_where(step.mask, [&](int lane) {
    const Source source = shuffle_source(static_cast<Shuffle>(step.instruction.variant), lane,
                                         step.words(3)[lane], step.words(4)[lane]);
    to[lane] = values[static_cast<std::size_t>(source.lane)];
    if (!has_lane(step.mask & members[lane], source.lane)) {
      step.report(FindingKind::inactive_lane, lane, [&] {
        return fmt::format("takes the value of lane {}, which does not take part: undefined",
                           source.lane);
      });
    }
    return source.in_range;
  });
  step.set_predicate(1, in_range, step.mask);
}

void decode_shfl(Decoder& d) {
  const auto mode = d.one_of({"up", "down", "bfly", "idx"});
  d.unsupported_if(!d.has("sync") || !mode || d.operand_count() != 5, "only shfl.sync");
  const auto [to, in_range] = d.pair(0);
  d.handle(&shuffle, *mode).to(to, b32);
  d.may_set(in_range).from(1, b32).from(2, b32).from(3, b32).from(4, b32);
  d.gather(5);
}

enum class Vote : std::uint32_t { any, all, uni, ballot };

/// Operands: to, predicate, members. The lanes may vote in several groups, each with its own
/// members.
void vote(const Step& step) {
  const Mask asked = step.condition(1);
  const auto kind = static_cast<Vote>(step.instruction.variant);
  step.for_each([&](int lane) {
    const Mask here = step.words(2)[lane] & step.mask;
    const Mask yes = asked & here;
    if (kind == Vote::ballot) {
      step.words(0)[lane] = yes;
      return;
    }
    const bool carried = kind == Vote::any   ? yes != 0
                         : kind == Vote::all ? yes == here
                                             : yes == here || yes == 0;
    step.set_predicate(0, carried ? kAllLanes : 0U, lane_bit(lane));
  });
}

void decode_vote(Decoder& d) {
  const auto mode = d.one_of({"any", "all", "uni", "ballot"});
  d.unsupported_if(!d.has("sync") || !mode, "only vote.sync");
  d.handle(&vote, *mode);
  static_cast<Vote>(*mode) == Vote::ballot ? d.to(0, b32) : d.sets(0);
  d.asks(1).from(2, b32).gather(2);
}

void active_mask(const Step& step) {
  step.for_each([&](int lane) { step.words(0)[lane] = step.mask; });
}

/// Operands: the elected lane, whether it is this one, members. The lowest lane is elected.
void elect(const Step& step) {
  step.for_each([&](int lane) {
    const int leader = std::countr_zero(step.words(2)[lane] & step.mask);
    step.words(0)[lane] = static_cast<std::uint32_t>(leader);
    step.set_predicate(1, leader == lane ? kAllLanes : 0U, lane_bit(lane));
  });
}

void decode_elect(Decoder& d) {
  const auto [leader, elected] = d.pair(0);
  d.malformed_if(!d.has("sync") || elected.empty(), "elect.sync needs a lane and a predicate");
  d.handle(&elect).to(leader, b32).sets(elected);
  d.from(1, b32).gather(2);
}

/// Calls `work` for each group. The lanes may act in several groups. The members of a group are the
/// lanes that its first lane names in operand 2.
template <typename Work>
void for_each_member_group(const Step& step, Work work) {
  for (Mask mask = step.mask; mask != 0;) {
    const int first = std::countr_zero(mask);
    const Mask group = (step.words(2)[first] & mask) | lane_bit(first);
    work(group);
    mask &= ~group;
  }
}

template <typename Lane>
void match_any(const Step& step) {
  const auto values = copy_of<Lane>(step, 1);
  const auto value = [&](int lane) { return values[static_cast<std::size_t>(lane)]; };
  for_each_member_group(step, [&](Mask group) {
    for_each_lane(group, [&](int lane) {
      step.words(0)[lane] =
          lanes_where(group, [&](int other) { return value(other) == value(lane); });
    });
  });
}

/// Operands: to, value, members, whether all values are the same.
template <typename Lane>
void match_all(const Step& step) {
  const auto values = copy_of<Lane>(step, 1);
  const auto value = [&](int lane) { return values[static_cast<std::size_t>(lane)]; };
  for_each_member_group(step, [&](Mask group) {
    const Lane first = value(std::countr_zero(group));
    const Mask same = lanes_where(group, [&](int lane) { return value(lane) == first; });
    const Mask all = same == group ? group : 0U;
    for_each_lane(group, [&](int lane) { step.words(0)[lane] = all; });
    step.set_predicate(3, all, group);
  });
}

void decode_match(Decoder& d) {
  const auto kind = d.one_of({"any", "all"});
  d.unsupported_if(!d.has("sync") || !kind || (d.type() != b32 && d.type() != b64), "this form");
  const auto [to, all] = d.pair(0);
  const bool wide = d.type() == b64;
  d.handle(*kind == 0 ? (wide ? &match_any<std::uint64_t> : &match_any<std::uint32_t>)
                      : (wide ? &match_all<std::uint64_t> : &match_all<std::uint32_t>));
  d.to(to, b32).from(1, d.type()).from(2, b32);
  d.may_set(all).gather(2);
}

template <typename T>
void reduce(const Step& step) {
  const auto values = copy_of<std::uint32_t>(step, 1);
  for_each_member_group(step, [&](Mask group) {
    const int first = std::countr_zero(group);
    auto result = static_cast<T>(values[static_cast<std::size_t>(first)]);
    for_each_lane(group & ~lane_bit(first), [&](int lane) {
      result = updated(static_cast<Update>(step.instruction.variant), result,
                       static_cast<T>(values[static_cast<std::size_t>(lane)]));
    });
    for_each_lane(group,
                  [&](int lane) { step.words(0)[lane] = static_cast<std::uint32_t>(result); });
  });
}

void decode_redux(Decoder& d) {
  const auto operation = d.one_of({"add", "min", "max", "and", "or", "xor"});  // as in Update
  d.unsupported_if(!d.has("sync") || !operation || size_of(d.type()) != 4 || is_float(d.type()),
                   "this form");
  d.handle(d.type() == s32 ? &reduce<std::int32_t> : &reduce<std::uint32_t>, *operation);
  d.to(0, b32).from(1, b32).from(2, b32).gather(2);
}

/// Lane 4 r + i has columns 2 i and 2 i + 1 of row r, both before and after.
void transpose_matrix(const Step& step) {
  std::array<std::uint16_t, 64> elements;
  std::memcpy(elements.data(), step.words(1), sizeof(elements));
  transpose_8x8(elements.data());
  std::memcpy(step.words(0), elements.data(), sizeof(elements));
}

void decode_movmatrix(Decoder& d) {
  d.unsupported_if(!d.has("m8n8") || !d.has("trans") || d.type() != b16, "this form");
  d.use(&transpose_matrix, b32, {b32}).gather_all();
}

}  // namespace

Operations collective_operations() {
  return {{"activemask", [](Decoder& d) { d.handle(&active_mask).to(0, b32); }},
          {"elect", decode_elect},
          {"match", decode_match},
          {"movmatrix", decode_movmatrix},
          {"redux", decode_redux},
          {"shfl", decode_shfl},
          {"vote", decode_vote}};
}

}  // namespace fatune::emulate
