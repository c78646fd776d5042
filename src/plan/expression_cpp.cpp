#include "plan/expression_cpp.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

std::string code_of(const ExpressionTree& tree, const CodeOfSymbol& symbols) {
  if (tree.operation == nullptr) {
    return tree.kind == ExpressionTree::Kind::name ? symbols(tree.symbol) : cpp_number(tree.number);
  }
  const std::string function(tree.operation->cpp);
  const bool is_prefix = tree.operands.size() == 1;
  const std::string operands =
      joined(tree.operands, function.empty() ? fmt::format(" {} ", tree.word) : ", ",
             [&](const ExpressionTree& operand) { return code_of(operand, symbols); });
  return !function.empty() ? fmt::format("math::{}({})", function, operands)
         : is_prefix       ? fmt::format("({}{})", tree.word, operands)
                           : fmt::format("({})", operands);
}

}  // namespace

std::string cpp_of(const Expression& expression, const CodeOfSymbol& code_of_symbol) {
  return code_of(expression.tree(), code_of_symbol);
}

std::string cpp_number(double value) {
  if (std::isinf(value)) {
    return "math::kInfinity";
  }
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace fatune
