#include "conformance/bounds.hpp"

#include <algorithm>
#include <array>

namespace fatune::conformance {
namespace {

struct OpcodeBound {
  std::string_view opcode;  ///< a part of the instruction's text
  Bound bound;
};

// The error of each opcode according to PTX ISA 9.0, sections 9.7.3 (single precision) and 9.7.4
// (16 bits), plus half a unit in the last place: the emulator's own rounding. The first match
// counts.
constexpr double kLastPlace = 0x1p-24;
constexpr double kLeastNormal =
    0x1p-126;  // results near it may be flushed by one machine but not the other
constexpr double kLeastSubnormal = 0x1p-149;  // a unit in the last place of subnormals
constexpr std::array kBounds{
    OpcodeBound{"ex2.approx.f16", {0x1p-9 /* 2^-9.9 */, 0x1p-24}},
    OpcodeBound{"ex2.approx.ftz.bf16", {0x1p-7, 0.0}},
    OpcodeBound{"ex2.approx", {0x1p-22 + kLastPlace, kLeastNormal}},
    OpcodeBound{"lg2.approx", {0x1p-22 + kLastPlace, 0x1p-22}},
    OpcodeBound{"sin.approx", {0.0, 0x1p-20}},  // 2^-20.5 within a turn
    OpcodeBound{"cos.approx", {0.0, 0x1p-20}},
    OpcodeBound{"tanh.approx.f32", {0x1p-11, 0.0}},
    OpcodeBound{"tanh.approx.f16", {0.0, 0x1p-10}},  // 2^-10.987, plus the rounding to 11 bits
    OpcodeBound{"tanh.approx.bf16", {0.0, 0x1p-8}},
    OpcodeBound{"rcp.approx.ftz.f64", {0x1p-20, 0.0}},  // only the upper 32 bits are used
    OpcodeBound{"rsqrt.approx.ftz.f64", {0x1p-20, 0.0}},
    OpcodeBound{"rsqrt.approx.f64", {0x1p-50, 0.0}},  // PTX ISA states no bound
    OpcodeBound{"rcp.approx", {0x1p-23 + kLastPlace, kLeastSubnormal}},
    OpcodeBound{"sqrt.approx", {0x1p-23 + kLastPlace, 0.0}},
    OpcodeBound{"rsqrt.approx", {0x1p-22 /* 2^-22.9 */ + kLastPlace, 0.0}},
    OpcodeBound{"div.approx", {0x1p-22 + kLastPlace, 0.0}},  // 2 units in the last place
    OpcodeBound{"div.full", {0x1p-22 + kLastPlace, kLeastSubnormal}},
};

}  // namespace

const Bound* bound_of(std::string_view text) {
  const auto* const found = std::find_if(
      kBounds.begin(), kBounds.end(),
      [&](const OpcodeBound& one) { return text.find(one.opcode) != std::string_view::npos; });
  return found == kBounds.end() ? nullptr : &found->bound;
}

}  // namespace fatune::conformance
