#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace fatune
