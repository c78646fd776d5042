#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plan/expression_operations.hpp"

namespace fatune {

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
