
#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/integer_functions.hpp"

// Sums of several words, with a carry from one instruction to the next: PTX ISA 9.0, section 9.7.2.
namespace fatune::emulate {
namespace {

using enum ScalarType;

struct CarryForm {
  bool subtracts = false;
  bool multiplies = false;
  bool high = false;
  bool takes = false;  ///< adds the carry
  bool gives = false;  ///< sets the carry
};

template <typename T>
std::make_unsigned_t<T> product(T a, T b, bool high) {
  return static_cast<std::make_unsigned_t<T>>(high ? MulHigh{}(a, b) : MulLow{}(a, b));
}

/// Operands: the sum, two factors or the first summand, the second summand, the carry.
template <typename T>
void carry(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  using U = std::make_unsigned_t<T>;
  const auto form = instruction.details_as<CarryForm>();
  const Operand* o = instruction.operands;
  U* const to = x.lanes<U>(warp, *o++);
  const U* const a = x.lanes<U>(warp, *o++);
  const U* const factor = form.multiplies ? x.lanes<U>(warp, *o++) : nullptr;
  const U* const b = x.lanes<U>(warp, *o++);
  Mask& bits = warp.predicates[o->offset];
  const Mask before = form.takes ? bits : 0U;
  Mask after = 0;
  for_each_lane(mask, [&](int lane) {
    const U first = factor == nullptr
                        ? a[lane]
                        : product(static_cast<T>(a[lane]), static_cast<T>(factor[lane]), form.high);
    const Unsigned128 second = Unsigned128{b[lane]} + (has_lane(before, lane) ? 1U : 0U);
    const Unsigned128 sum = form.subtracts ? first - second : first + second;
    to[lane] = static_cast<U>(sum);
    after |= (sum >> (8 * sizeof(U))) != 0 ? lane_bit(lane) : 0U;
  });
  if (form.gives) {
    bits = (bits & ~mask) | after;
  }
}

}  // namespace

/// Decodes add.cc, addc, sub.cc, subc, mad.cc and madc.
void decode_carry(Decoder& d) {
  const CarryForm form{d.name().starts_with("sub"), d.name().starts_with("mad"), d.has("hi"),
                       d.name().ends_with("c"), d.has("cc")};
  refuse(d, {"wide", "sat"});
  const Handler handler =
      handler_for<u32, s32, u64, s64>(d, d.type(), []<typename T>() { return &carry<T>; });
  use(d, handler, d.type(), {d.type(), d.type()});
  if (form.multiplies) {
    d.add(d.value(3, d.type()));
  }
  d.add(d.carry());
  d.result.set_details(form);
}

std::span<const NamedOperation> carry_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"addc", decode_carry}, {"madc", decode_carry}, {"subc", decode_carry}};
  return kOperations;
}

}  // namespace fatune::emulate
