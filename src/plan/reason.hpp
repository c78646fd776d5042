#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/expression.hpp"
#include "plan/parameter.hpp"

namespace fatune {

/// The text a user reads when a rule applies, with {name} for the value of a parameter or derived
/// quantity, and {expression} for a number: "needs {smem_bytes} bytes", "{BLOCK_N - 8} keys".
class Reason {
 public:
  /// Throws Error(bad_file) on an unknown name, one that needs more than `known`, an unclosed
  /// brace, or an expression that cannot be read.
  Reason(const std::string& text, const SymbolTable& symbols, const std::string& where,
         Needs known = {.problem = true, .device = true});

  /// `parameters` are the first symbols of the scope. Their values are written as users write them.
  [[nodiscard]] std::string render(std::span<const double> scope,
                                   std::span<const Parameter> parameters) const;
  [[nodiscard]] Needs needs() const { return needs_; }
  /// What is in the braces: the symbol of a plain name, or an expression.
  struct Hole {
    std::string text_before;
    std::size_t symbol = 0;
    std::string name;  ///< the text in the braces
    std::optional<Expression> expression;
  };
  [[nodiscard]] const std::vector<Hole>& holes() const { return holes_; }
  /// The text with names and expressions in place of values, without their braces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Hole> holes_;
  std::string tail_;
  Needs needs_;
};

}  // namespace fatune
