#pragma once

#include <string>
#include <vector>

#include "sass/listing.hpp"

namespace fatune {

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

}  // namespace fatune
