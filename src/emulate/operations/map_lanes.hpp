#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "emulate/execution.hpp"

// Lane-wise operations: results[lane] = f(sources[lane]...), for the lanes of a mask. They are
// plain loops over all 32 lanes, which compilers turn into vector instructions.
namespace fatune::emulate {

/// The .ftz modifier in single precision: subnormal inputs and results become zero and keep their
/// sign.
inline float flush_subnormal(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}

namespace detail {

template <typename To, typename Function, typename... From, std::size_t... kIndex>
void map_lanes(Execution& x, Warp& warp, const Instruction& instruction, Mask mask, Function f,
               std::index_sequence<kIndex...>) {
  Raw<To>* const to = x.lanes<Raw<To>>(warp, instruction.operands[0]);
  const auto sources = std::tuple{x.lanes<Raw<From>>(warp, instruction.operands[kIndex + 1])...};
  const auto value = [&](int lane) {
    return static_cast<To>(f(from_raw<From>(std::get<kIndex>(sources)[lane])...));
  };
  if (mask == kAllLanes) {
    Raw<To> results[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      results[lane] = to_raw<To>(value(lane));
    }
    std::memcpy(to, results, sizeof(results));
    return;
  }
  for_each_lane(mask, [&](int lane) { to[lane] = to_raw<To>(value(lane)); });
}

}  // namespace detail

/// A handler. Operand 0 is the result, of type To. The next operands have types From. `Function` is
/// a stateless callable.
template <typename Function, typename To, typename... From>
void lane_wise(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  detail::map_lanes<To, Function, From...>(x, warp, instruction, mask, Function{},
                                           std::index_sequence_for<From...>{});
}

}  // namespace fatune::emulate
