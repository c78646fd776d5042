#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Instructions that the emulator has to carry out as a GPU does: what both are given, and how it is
// said. The same cases run on a GPU (gpu_conformance_test.cpp) and, against what that recorded, in
// CI (conformance_test.cpp).
namespace fatune::conformance {

/// The register that an operand is in.
enum class Storage : std::uint8_t { pred, b16, b32, b64 };

/// How the values of an operand are chosen: see operand_values.cpp.
enum class Domain : std::uint8_t {
  bits,    ///< integers, or anything
  half,    ///< f16; two of them in 32 bits
  bfloat,  ///< bf16; two of them in 32 bits
  single,
  real,  ///< f64
  fp8,   ///< two of either 8-bit format
  count,
  selector,
  lane,
  clamp,
  few,
  turn,
  truth,
};

/// How much of a domain an operand is taken from.
enum class Range : std::uint8_t {
  all,
  finite,  ///< numbers of any size, seldom an edge: for sums of many of them
  near,    ///< numbers of about 1
};

/// The kind of an operand or a result.
struct Kind {
  Storage storage = Storage::b32;
  Domain domain = Domain::bits;
  Range range = Range::all;
};

/// Bytes that a value takes in a recording. A predicate: 1.
[[nodiscard]] std::size_t recorded_bytes(const Kind& kind);
/// "f32" and so on, as rows name it; throws std::logic_error for a name that is none.
[[nodiscard]] Kind kind_of(std::string_view name);

/// Instructions on operands %s0, %s1, ... with results %d0, %d1, ...
struct Case {
  std::string group;
  std::string text;
  std::vector<Kind> results;
  std::vector<Kind> operands;
};

/// Several cases in short. `text` is one opcode, or whole statements when it has a blank. "<a|b>"
/// stands for one case with a and one with b; "$1" repeats what the first such choice has, also in
/// `results` and `operands`, which are names of kinds with blanks between.
///
/// Besides the operands there are %x0 - %x3 (32 bits), %y0 - %y3 (64 bits), %i: the thread's
/// number, %operands: the address of its operands, 8 bytes each, %shared and %global: addresses of
/// 32 bytes that are the thread's own.
struct Row {
  const char* text;
  const char* results;
  const char* operands;
};

/// The cases of a group's rows.
[[nodiscard]] std::vector<Case> expand(const std::string& group, const std::vector<Row>& rows);

/// Every case, in the order of groups.
[[nodiscard]] const std::vector<Case>& all_cases();
[[nodiscard]] std::vector<std::string> all_groups();
[[nodiscard]] std::vector<Case> cases_of(const std::string& group);

}  // namespace fatune::conformance
