#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "inspect/sass/listing.hpp"
#include "inspect/sass/opcode_class.hpp"

namespace fatune {

/// The classes that occur, with their numbers: "tensor 16, shared 3".
[[nodiscard]] std::string classes_text(const std::array<std::int64_t, kOpcodeClasses>& counts);

/// "@!P0 FADD R1, R2, R3".
[[nodiscard]] std::string instruction_text(const Instruction& instruction);

/// Assembly without addresses, encodings and unused labels, for comparison in an editor. Registers
/// stay as they are.
[[nodiscard]] std::string clean_text(const SassFunction& function);

/// The control-flow graph in Graphviz' language. The main loop's blocks are grey, those of other
/// loops lighter; edges back to a loop's header are bold.
[[nodiscard]] std::string graph_text(const SassFunction& function);

/// An instruction or label in two forms.
struct NormalLine {
  /// Registers, predicates and labels numbered in the order in which they first appear in the
  /// function: "FADD R2, R0, -R1".
  std::string text;
  /// The text without numbers, "FADD R, R, -R". Two compilations are aligned by it, because one
  /// additional register renumbers all later ones.
  std::string shape;
};

/// The function in a form that can be compared with another compilation of it: without addresses
/// and hints (.reuse), and with the function itself called "self". RZ, URZ, PT and UPT stay.
[[nodiscard]] std::vector<NormalLine> normal_form(const SassFunction& function);

struct DiffLine {
  char sign = ' ';        ///< '-' only in the first, '+' only in the second, ' ' in both
  std::size_t index = 0;  ///< the line's place: in the second for '+', else in the first

  bool operator==(const DiffLine&) const = default;
};

/// Aligns two sequences with as many common lines as possible (a longest common subsequence); with
/// nearly as many where more than about 2,500 lines differ. Where both differ, the lines of `a`
/// come first. Throws Error(bad_file) if the product of the lengths is greater than 2^32.
/// Source: S. Wu, U. Manber, G. Myers, W. Miller, An O(NP) sequence comparison algorithm, IPL 35
/// (1990), as the library dtl has it.
[[nodiscard]] std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                               const std::vector<std::string>& b);

}  // namespace fatune
