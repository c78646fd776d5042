#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plan/expression.hpp"
#include "plan/parameter.hpp"

namespace fatune {

/// The text a user reads when a rule applies, with {name} for the value of a parameter or derived
/// quantity: "needs {smem_bytes} bytes".
class Reason {
 public:
  /// Throws Error(bad_file) on an unknown name, one that needs more than `known`, or an unclosed
  /// brace.
  Reason(const std::string& text, const SymbolTable& symbols, const std::string& where,
         Needs known = {.problem = true, .device = true});

  /// `parameters` are the first symbols of the scope. Their values are written as users write them.
  [[nodiscard]] std::string render(std::span<const double> scope,
                                   std::span<const Parameter> parameters) const;
  [[nodiscard]] Needs needs() const { return needs_; }
  [[nodiscard]] std::vector<std::size_t> symbols() const;  ///< those whose values it shows
  /// The text with names in place of values, without their braces.
  [[nodiscard]] std::string text() const;

 private:
  struct Hole {
    std::string text_before;
    std::size_t symbol;
    std::string name;  ///< of the symbol
  };
  std::vector<Hole> holes_;
  std::string tail_;
  Needs needs_;
};

}  // namespace fatune
