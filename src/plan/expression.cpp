#include "plan/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"
#include "core/visible_text.hpp"
#include "plan/expression_code.hpp"
#include "plan/parameter.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {

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

namespace {

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
      require(operand.needs());
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

  void require(Needs more) {
    needs.problem = needs.problem || more.problem;
    needs.device = needs.device || more.device;
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
    require(symbols.needs(*symbol));
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

bool Expression::holds(std::span<const double> scope) const { return number(scope) != 0.0; }

Needs Expression::needs() const { return impl_->needs; }

const std::string& Expression::text() const { return impl_->text; }

const ExpressionTree& Expression::tree() const { return impl_->tree; }

const std::string& Expression::where() const { return impl_->where; }

bool Expression::names_infinity() const { return impl_->names_infinity; }

void fail_value(const Expression& of, bool is_too_great, const std::string& what) {
  if (is_too_great && of.needs().problem) {
    throw TooLargeProblem(ExitCode::bad_file, what, of.where());
  }
  throw Error(ExitCode::bad_file, what, of.where());
}

}  // namespace fatune
