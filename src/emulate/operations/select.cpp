#include <cstdint>

#include "emulate/operations/map_lanes.hpp"
#include "emulate/operations/operations.hpp"

// Selections: PTX ISA 9.0, section 9.7.6.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <typename Lane>
void select(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* a = x.lanes<Lane>(warp, instruction.operands[1]);
  const auto* b = x.lanes<Lane>(warp, instruction.operands[2]);
  const Mask choice = condition_of(warp, instruction.operands[3]);
  auto* to = x.lanes<Lane>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) { to[lane] = has_lane(choice, lane) ? a[lane] : b[lane]; });
}

/// Selects a where c, of type T, is not negative, else b.
template <typename Lane, typename T, bool kFlush>
void select_by_sign(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* a = x.lanes<Lane>(warp, instruction.operands[1]);
  const auto* b = x.lanes<Lane>(warp, instruction.operands[2]);
  const auto* c = x.lanes<std::uint32_t>(warp, instruction.operands[3]);
  auto* to = x.lanes<Lane>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) {
    T sign = from_raw<T>(c[lane]);
    if constexpr (kFlush) {
      sign = flush_subnormal(sign);
    }
    to[lane] = sign >= T{0} ? a[lane] : b[lane];
  });
}

template <typename Lane>
Handler sign_selection(const Decoder& d) {
  return d.type() == s32 ? &select_by_sign<Lane, std::int32_t, false>
         : d.has("ftz")  ? &select_by_sign<Lane, float, true>
                         : &select_by_sign<Lane, float, false>;
}

void decode_selp(Decoder& d) {
  const ScalarType t = d.type();
  use(d, size_of(t) == 8 ? &select<std::uint64_t> : &select<std::uint32_t>, t, {t});
  d.add(d.value(2, t));
  d.add(d.condition(3));
}

void decode_slct(Decoder& d) {
  d.unsupported_if(d.types().size() != 2 || (d.type() != s32 && d.type() != f32), "this form");
  const ScalarType t = d.types()[0];
  use(d, size_of(t) == 8 ? sign_selection<std::uint64_t>(d) : sign_selection<std::uint32_t>(d), t,
      {t, t});
  d.add(d.value(3, d.type()));
}

}  // namespace

std::span<const NamedOperation> selection_operations() {
  static constexpr NamedOperation kOperations[] = {{"selp", decode_selp}, {"slct", decode_slct}};
  return kOperations;
}

}  // namespace fatune::emulate
