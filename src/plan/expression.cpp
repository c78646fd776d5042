#include "plan/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_file.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "plan/parameter.hpp"

namespace fatune {

/// An expression's tree as steps for a stack of numbers, which are fast to evaluate.
class ExpressionCode {
 public:
  explicit ExpressionCode(const ExpressionTree& tree) { add(tree); }

  /// `scope` has a value for the symbol of each name. Only the branch that `?:` takes is evaluated.
  [[nodiscard]] double run(std::span<const double> scope) const {
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

 private:
  struct Step {
    enum class Kind : std::uint8_t { number, symbol, operation, branch, jump };

    Kind kind;
    std::size_t count =
        0;  ///< the symbol, or the operands; of branch and jump: the last step skipped
    double number = 0.0;
    const Operation* operation = nullptr;
  };

  void push(const Step& step) {
    steps_.push_back(step);
    depth_ = std::max(depth_, ++height_);
  }

  void add(const ExpressionTree& tree) {
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

  void add_conditional(const std::vector<ExpressionTree>& operands) {
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

  std::vector<Step> steps_;
  std::size_t height_ = 0;  ///< of the stack after the steps so far
  std::size_t depth_ = 0;   ///< the greatest height
};

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

using Kind = ExpressionTree::Kind;

constexpr const char* kInfinityName = "inf";
constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

/// The innermost part whose value is not finite although its operands' are.
const ExpressionTree& cause(const ExpressionTree& tree, std::span<const double> scope) {
  const auto is_finite = [&](const ExpressionTree& one) {
    return one.operands.empty() || std::isfinite(ExpressionCode(one).run(scope));
  };
  if (tree.kind == Kind::conditional && is_finite(tree.operands[0])) {
    const bool holds = ExpressionCode(tree.operands[0]).run(scope) != 0.0;
    return cause(tree.operands[holds ? 1 : 2], scope);
  }
  for (const ExpressionTree& operand : tree.operands) {
    if (!is_finite(operand)) {
      return cause(operand, scope);
    }
  }
  return tree;
}

void add_names(const ExpressionTree& tree, std::map<std::string, std::size_t>& names) {
  if (tree.kind == Kind::name) {
    names.emplace(tree.word, tree.symbol);
  }
  for (const ExpressionTree& operand : tree.operands) {
    add_names(operand, names);
  }
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

bool is_identifier(std::string_view text) { return text.size() <= 64 && is_code_name(text); }

bool is_code_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_word_character) &&
         std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

std::size_t SymbolTable::add(const std::string& name, Needs needs) {
  if (!is_identifier(name)) {
    throw std::invalid_argument(fmt::format("'{}' is not an identifier", name));
  }
  if (!index_.emplace(name, names_.size()).second) {
    throw std::invalid_argument(fmt::format("the name '{}' is taken", name));
  }
  names_.push_back(name);
  needs_.push_back(needs);
  return names_.size() - 1;
}

std::optional<std::size_t> SymbolTable::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> SymbolTable::names(Needs known) const {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (needs_[i].within(known)) {
      found.push_back(names_[i]);
    }
  }
  return found;
}

struct Expression::Impl {
  Impl(std::string text_, const SymbolTable& symbols, std::string where_, Needs known)
      : text(std::move(text_)),
        where(std::move(where_)),
        tree(parse_expression(text, ExpressionPlace::data_file, where)) {
    bind(tree, symbols, known);
    code = ExpressionCode(tree);
  }

  Impl(const Operation& operation, const std::vector<Expression>& operands)
      : where(operands.front().where()) {
    tree.kind = operation.word == kConditional ? Kind::conditional : Kind::operation;
    tree.word = operation.word;
    tree.operation = &operation;
    for (const Expression& operand : operands) {
      tree.operands.push_back(operand.tree());
      names_infinity = names_infinity || operand.names_infinity();
      needs.add(operand.needs());
    }
    text = tree.kind == Kind::conditional
               ? fmt::format("{} ? {} : {}", operands[0].text(), operands[1].text(),
                             operands[2].text())
               : joined(operands, fmt::format(" {} ", operation.word), &Expression::text);
    tree.source = text;
    code = ExpressionCode(tree);
  }

  Impl(double value, std::string where_)
      : text(fmt::format("{}", value)), where(std::move(where_)) {
    tree.number = value;
    tree.source = text;
    code = ExpressionCode(tree);
  }

  void bind(ExpressionTree& part, const SymbolTable& symbols, Needs known) {
    for (ExpressionTree& operand : part.operands) {
      bind(operand, symbols, known);
    }
    if (part.kind == Kind::name) {
      bind_name(part, symbols, known);
    }
  }

  void bind_name(ExpressionTree& name, const SymbolTable& symbols, Needs known) {
    const auto symbol = symbols.find(name.word);
    if (!symbol && name.word == kInfinityName) {
      names_infinity = true;
      name.kind = Kind::number;
      name.number = std::numeric_limits<double>::infinity();
      return;
    }
    if (!symbol || !symbols.needs(*symbol).within(known)) {
      fail(fmt::format("{} name '{}'", symbol ? "cannot use the" : "unknown", name.word),
           fmt::format("names known here: {}", fmt::join(symbols.names(known), ", ")));
    }
    needs.add(symbols.needs(*symbol));
    name.symbol = *symbol;
  }

  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw Error(ExitCode::bad_file,
                fmt::format("in the expression \"{}\": {}", visible_text(text), what), where,
                remedy);
  }

  [[noreturn]] void fail_not_finite(std::span<const double> scope) const {
    const ExpressionTree& part = cause(tree, scope);
    const std::string why = &part == &tree ? ""
                                           : fmt::format(", because \"{}\" is {}", part.source,
                                                         ExpressionCode(part).run(scope));
    fail(fmt::format("the result is not a finite number{}{}", why, inputs(scope)),
         "is something divided by zero?");
  }

  /// The inputs of a bad result: " for B_c = 0, seq_len = 512".
  std::string inputs(std::span<const double> scope) const {
    std::map<std::string, std::size_t> names;
    add_names(tree, names);
    const std::string shown = joined(names, ", ", [&](const auto& name) {
      return fmt::format("{} = {}", name.first, symbol_text(name.first, scope[name.second]));
    });
    return shown.empty() ? "" : " for " + shown;
  }

  std::string text;
  std::string where;
  ExpressionTree tree;
  ExpressionCode code{{}};
  Needs needs{};
  bool names_infinity = false;
};

Expression::Expression(std::string text, const SymbolTable& symbols, std::string where, Needs known)
    : impl_(std::make_shared<Impl>(std::move(text), symbols, std::move(where), known)) {}

Expression::Expression(const JsonNode& node, const SymbolTable& symbols, Needs known)
    : Expression(node.text(), symbols, node.where(), known) {}

Expression::Expression(const Operation& operation, const std::vector<Expression>& operands)
    : impl_(std::make_shared<Impl>(operation, operands)) {}

Expression::Expression(double value, std::string where)
    : impl_(std::make_shared<Impl>(value, std::move(where))) {}

double Expression::number(std::span<const double> scope) const {
  const double value = impl_->code.run(scope);
  if (!std::isfinite(value)) {
    impl_->fail_not_finite(scope);
  }
  return value;
}

double Expression::number_or_infinity(std::span<const double> scope) const {
  const double value = impl_->code.run(scope);
  return impl_->names_infinity && std::isinf(value) ? value : number(scope);
}

std::int64_t Expression::integer(std::span<const double> scope) const {
  const double value = number(scope);
  if (std::trunc(value) != value || std::abs(value) > kMaxExactInteger) {
    if (value > kMaxExactInteger) {
      fail_value(*this, true, fmt::format("\"{}\" gives {}, more than 2^53", text(), value));
    }
    impl_->fail(fmt::format("the result {} is not a whole number{}", value, impl_->inputs(scope)),
                "ceil_div(a, b) and floor(x) give whole numbers");
  }
  return static_cast<std::int64_t>(value);
}

Needs Expression::needs() const { return impl_->needs; }

const std::string& Expression::text() const { return impl_->text; }

const ExpressionTree& Expression::tree() const { return impl_->tree; }

const std::string& Expression::where() const { return impl_->where; }

bool Expression::names_infinity() const { return impl_->names_infinity; }

std::optional<Expression> find_expression(const JsonNode& object, const char* member,
                                          const SymbolTable& symbols, Needs known) {
  const auto node = object.find(member);
  return node ? std::optional<Expression>(std::in_place, *node, symbols, known) : std::nullopt;
}

void fail_value(const Expression& of, bool is_too_great, const std::string& what) {
  if (is_too_great && of.needs().problem) {
    throw TooLargeProblem(ExitCode::bad_file, what, of.where());
  }
  throw Error(ExitCode::bad_file, what, of.where());
}

}  // namespace fatune
