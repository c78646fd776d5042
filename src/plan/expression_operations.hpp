#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// The operators and functions of expressions, on IEEE doubles.
namespace fatune {

struct Operation {
  std::string_view word;  ///< as in an expression; kConditional for `a ? b : c`
  std::string_view cpp;   ///< its function in runtime/expression_math.hpp; empty: the same operator
  int binding;            ///< precedence of a binary operator; the greater binds tighter; else 0
  std::size_t operands;   ///< kAnyCount: one or more, combined two at a time, from the left
  double (*result)(const double* operands);

  [[nodiscard]] bool takes(std::size_t count) const;
  /// The result on as many operands as it takes.
  [[nodiscard]] double of(std::span<const double> values) const;
};

inline constexpr std::string_view kConditional = "?:";
inline constexpr std::size_t kAnyCount = 0;
inline constexpr int kLoosestBinding = 1;
inline constexpr int kPowerBinding = 6;  ///< associates from right to left, unlike the others

/// Where one operator is a prefix of another, the longer one comes first.
[[nodiscard]] std::span<const Operation> all_operations();

/// Returns null if there is none of that name.
[[nodiscard]] const Operation* find_function(std::string_view name);
/// Precondition: there is such an operator, with so many operands.
[[nodiscard]] const Operation& operator_of(std::string_view word, std::size_t operands);

/// "min, max, ceil_div, ...", for messages.
[[nodiscard]] std::string function_names();

}  // namespace fatune
