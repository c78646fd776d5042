#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/expression.hpp"
#include "plan/expression_tree.hpp"

namespace fatune {

/// An expression's tree as steps for a stack of numbers, which are fast to evaluate.
class ExpressionCode {
 public:
  explicit ExpressionCode(const ExpressionTree& tree);

  /// `scope` has a value for the symbol of each name. Only the branch that `?:` takes is evaluated.
  [[nodiscard]] double run(std::span<const double> scope) const;

 private:
  struct Step {
    enum class Kind : std::uint8_t { number, symbol, operation, branch, jump };

    Kind kind;
    std::size_t count =
        0;  ///< the symbol, or the operands; of branch and jump: the last step skipped
    double number = 0.0;
    const Operation* operation = nullptr;
  };

  void push(const Step& step);
  void add(const ExpressionTree& tree);
  void add_conditional(const std::vector<ExpressionTree>& operands);

  std::vector<Step> steps_;
  std::size_t height_ = 0;  ///< of the stack after the steps so far
  std::size_t depth_ = 0;   ///< the greatest height
};

/// The C++ for a symbol of an expression's SymbolTable.
using CodeOfSymbol = std::function<std::string(std::size_t symbol)>;

/// Translates the expression to C++ that has the same value and calls the functions of
/// runtime/expression_math.hpp (namespace `math`): "a + 2 * b" becomes "(a + (2.0 * b))".
/// `code_of_symbol` is called in the order of the names in the text.
[[nodiscard]] std::string cpp_of(const Expression& expression, const CodeOfSymbol& code_of_symbol);

/// A number as a C++ literal that reads back as the same number: "64.0", "0.1".
[[nodiscard]] std::string cpp_number(double value);

}  // namespace fatune
