#include "plan/expression_code.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/text_parts.hpp"

namespace fatune {

ExpressionCode::ExpressionCode(const ExpressionTree& tree) { add(tree); }

double ExpressionCode::run(std::span<const double> scope) const {
  constexpr std::size_t kFew = 32;
  std::array<double, kFew> few;  // NOLINT(cppcoreguidelines-pro-type-member-init): for speed
  std::vector<double> many(depth_ > kFew ? depth_ : 0);
  double* top = depth_ > kFew ? many.data() : few.data();  // one past the last number
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    switch (step.kind) {
      case Step::Kind::number:
        *top++ = step.number;
        break;
      case Step::Kind::symbol:
        *top++ = scope[step.count];
        break;
      case Step::Kind::operation:
        top -= step.count;
        *top = step.operation->of({top, step.count});
        ++top;
        break;
      case Step::Kind::branch:
        if (std::isnan(*--top)) {
          *top++ = std::numeric_limits<double>::quiet_NaN();
          i = step.count - 1;  // goes on with the jump to the end
        } else if (*top == 0.0) {
          i = step.count;
        }
        break;
      case Step::Kind::jump:
        i = step.count;
        break;
    }
  }
  return top[-1];
}

void ExpressionCode::push(const Step& step) {
  steps_.push_back(step);
  depth_ = std::max(depth_, ++height_);
}

void ExpressionCode::add(const ExpressionTree& tree) {
  if (tree.kind == ExpressionTree::Kind::conditional) {
    return add_conditional(tree.operands);
  }
  for (const ExpressionTree& operand : tree.operands) {
    add(operand);
  }
  if (tree.kind == ExpressionTree::Kind::operation) {
    height_ -= tree.operands.size();
    push({Step::Kind::operation, tree.operands.size(), 0.0, tree.operation});
  } else if (tree.kind == ExpressionTree::Kind::name) {
    push({Step::Kind::symbol, tree.symbol});
  } else {
    push({Step::Kind::number, 0, tree.number});
  }
}

void ExpressionCode::add_conditional(const std::vector<ExpressionTree>& operands) {
  add(operands[0]);
  const std::size_t branch = steps_.size();
  steps_.push_back({Step::Kind::branch});
  --height_;
  add(operands[1]);
  const std::size_t jump = steps_.size();
  steps_.push_back({Step::Kind::jump});
  --height_;
  add(operands[2]);
  steps_[branch].count = jump;
  steps_[jump].count = steps_.size() - 1;
}

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
