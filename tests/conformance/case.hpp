#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Instructions that the emulator must execute as a GPU does, with their operands, and a notation
// for them. The same cases run on a GPU (gpu_conformance_test.cpp) and, compared with what that
// test recorded, in CI (conformance_test.cpp).
namespace fatune::conformance {

/// The register type of an operand.
enum class Storage : std::uint8_t { pred, b16, b32, b64 };

/// How the values of an operand are chosen (operand_values.cpp).
enum class Domain : std::uint8_t {
  bits,    ///< integers or arbitrary bits
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

/// The part of a domain from which an operand is taken.
enum class Range : std::uint8_t {
  all,
  finite,  ///< numbers of any size, rarely an edge case: for sums of many of them
  near,    ///< numbers near 1
};

/// The kind of an operand or a result.
struct Kind {
  Storage storage = Storage::b32;
  Domain domain = Domain::bits;
  Range range = Range::all;
};

/// The number of bytes of a value in a recording. A predicate takes 1.
[[nodiscard]] std::size_t recorded_bytes(const Kind& kind);
/// Converts a name in a row, such as "f32". Throws std::logic_error if the name is unknown.
[[nodiscard]] Kind kind_of(std::string_view name);

/// Instructions that read operands %s0, %s1, ... and write results %d0, %d1, ...
struct Case {
  std::string group;
  std::string text;
  std::vector<Kind> results;
  std::vector<Kind> operands;
};

/// Short form of several cases. `text` is one opcode, or complete statements if it contains a
/// blank. "<a|b>" stands for one case with a and one with b. "$1" repeats the first of these
/// choices, also in `results` and `operands`, which are names of kinds separated by blanks.
///
/// Statements can also use %x0 - %x3 (32 bits), %y0 - %y3 (64 bits), %i (the thread's number),
/// %operands (the address of its operands, 8 bytes each), and %shared and %global (addresses of 32
/// bytes that belong to the thread).
struct Row {
  const char* text;
  const char* results;
  const char* operands;
};

/// Expands the rows of a group to cases.
[[nodiscard]] std::vector<Case> expand(const std::string& group, const std::vector<Row>& rows);

/// All cases, in the order of the groups.
[[nodiscard]] const std::vector<Case>& all_cases();
[[nodiscard]] std::vector<std::string> all_groups();
[[nodiscard]] std::vector<Case> cases_of(const std::string& group);

}  // namespace fatune::conformance
