#include "emulate/operations/float_rounding.hpp"

#include <type_traits>
#include <utility>

#include "emulate/operations/map_lanes.hpp"
#include "emulate/values/float_functions.hpp"
#include "emulate/values/rounding.hpp"

// This file is compiled with -frounding-math: see CMakeLists.txt.
namespace fatune::emulate {
namespace {

/// Clamps to [0, 1]. A NaN becomes 0.
template <typename T>
T clamped(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

template <typename F>
constexpr bool kIsProduct = std::is_same_v<F, FloatMul> || std::is_same_v<F, FusedMultiplyAdd>;

template <typename T>
T flushed(T value, bool flushes) {
  if constexpr (sizeof(T) == 4) {
    return flushes ? flush_subnormal(value) : value;
  } else {
    return value;
  }
}

template <typename F, typename T, std::size_t... kIndex>
void rounded(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
             std::index_sequence<kIndex...>) {
  const auto form = instruction.details_as<RoundedForm>();
  const RoundingScope scope(form.rounding);
  const auto value = [&](std::size_t operand, int lane) {
    return flushed(from_raw<T>(x.lanes<Raw<T>>(warp, instruction.operands[operand])[lane]),
                   form.flushes);
  };
  auto* const to = x.lanes<Raw<T>>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) {
    T result = canonical_result<F>(value(kIndex + 1, lane)...);
    if constexpr (kIsProduct<F> && sizeof(T) == 4) {
      result = form.flushes ? flush_tiny(result, value(kIndex + 1, lane)...) : result;
    }
    if constexpr (std::is_same_v<F, FloatDiv> && sizeof(T) == 4) {
      result = form.flushes ? flush_tiny_quotient(result, value(kIndex + 1, lane)...) : result;
    }
    to[lane] = to_raw<T>(flushed(form.saturates ? clamped(result) : result, form.flushes));
  });
}

template <typename F, std::size_t kOperands, typename T>
void handle(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  rounded<F, T>(x, warp, instruction, mask, std::make_index_sequence<kOperands>{});
}

template <typename F, std::size_t kOperands>
Handler choose(bool is_double) {
  return is_double ? &handle<F, kOperands, double> : &handle<F, kOperands, float>;
}

}  // namespace

Handler rounded_handler(FloatOperation operation, bool is_double) {
  switch (operation) {
    case FloatOperation::add:
      return choose<FloatAdd, 2>(is_double);
    case FloatOperation::sub:
      return choose<FloatSub, 2>(is_double);
    case FloatOperation::mul:
      return choose<FloatMul, 2>(is_double);
    case FloatOperation::fma:
      return choose<FusedMultiplyAdd, 3>(is_double);
    case FloatOperation::div:
      return choose<FloatDiv, 2>(is_double);
    case FloatOperation::rcp:
      return choose<Reciprocal, 1>(is_double);
    case FloatOperation::sqrt:
      break;
  }
  return choose<SquareRoot, 1>(is_double);
}

RoundedForm rounded_form(const Decoder& d) {
  const auto rounding = d.one_of({"rn", "rz", "rm", "rp"}).value_or(0);
  return {static_cast<Rounding>(rounding), d.has("ftz"), d.has("sat")};
}

}  // namespace fatune::emulate
