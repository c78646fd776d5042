#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

inline constexpr std::string_view kConditional = "?:";
inline constexpr std::size_t kAnyCount = 0;
inline constexpr int kLoosestBinding = 1;
inline constexpr int kPowerBinding = 6;  ///< associates from right to left, unlike the others

// The operators and functions of expressions, on IEEE doubles.

struct Operation {
  std::string_view word;  ///< as in an expression; kConditional for `a ? b : c`
  std::string_view cpp;   ///< its function in runtime/expression_math.hpp; empty: the same operator
  int binding;            ///< precedence of a binary operator; the greater binds tighter; else 0
  std::size_t operands;   ///< kAnyCount: one or more, combined two at a time, from the left
  double (*result)(const double* operands);

  [[nodiscard]] bool takes(std::size_t count) const {
    return operands == kAnyCount ? count > 0 : count == operands;
  }
  /// The result on as many operands as it takes.
  [[nodiscard]] double of(std::span<const double> values) const;
};

/// Where one operator is a prefix of another, the longer one comes first.
[[nodiscard]] std::span<const Operation> all_operations();

/// Returns null if there is none of that name.
[[nodiscard]] const Operation* find_function(std::string_view name);
/// Precondition: there is such an operator, with so many operands.
[[nodiscard]] const Operation& operator_of(std::string_view word, std::size_t operands);

/// "min, max, ceil_div, ...", for messages.
[[nodiscard]] std::string function_names();

/// The syntax of an expression (see Expression).
///
/// There is one parser, our own: muParser gives no tree to print as C++, so it would need a second
/// grammar beside it, and its set-up alone is longer than the functions that evaluate a tree.
struct ExpressionTree {
  enum class Kind { number, text, name, operation, conditional };

  Kind kind = Kind::number;
  std::string word{};    ///< the name, the operator or the function; of a text: what is in quotes
  double number = 0.0;   ///< of Kind::number
  std::string source{};  ///< what it was read from
  const Operation* operation = nullptr;  ///< of Kind::operation and Kind::conditional
  std::vector<ExpressionTree> operands{};
  std::size_t symbol = 0;  ///< of Kind::name, in an Expression: its index in the SymbolTable
};

/// Where an expression is written. In a data file it has no texts in quotes, and mistakes are
/// Error(bad_file). In an option it may have them, and mistakes are Error(usage).
enum class ExpressionPlace { data_file, option };

/// The greatest number of characters of an expression.
inline constexpr std::size_t kMaxExpressionLength = 1024;

/// `where` is the file and pointer of the text, or the option. Throws an Error that names the
/// position of the mistake.
[[nodiscard]] ExpressionTree parse_expression(std::string_view text, ExpressionPlace place,
                                              const std::string& where);

}  // namespace fatune
