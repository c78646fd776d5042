#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// The syntax of an expression (see Expression), which may contain texts in quotes too.
struct ExpressionTree {
  enum class Kind { number, text, name, prefix, binary, conditional, call };

  Kind kind = Kind::number;
  std::string word{};    ///< the name, the operator or the function; of a text: what is in quotes
  double number = 0.0;   ///< of Kind::number
  std::string source{};  ///< what it was read from
  std::vector<ExpressionTree> operands{};
};

/// Throws Error(usage), which names the position of the mistake.
[[nodiscard]] ExpressionTree parse_expression(std::string_view text);

/// The result of the tree's operator or function on the values of its operands. It is NaN if it
/// depends on one that is NaN, or if there is no such function of so many operands.
[[nodiscard]] double operated(const ExpressionTree& tree, std::span<const double> operands);

}  // namespace fatune
