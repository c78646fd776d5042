#include "plan/expression_tree.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "runtime/expression_math.hpp"

namespace fatune {
namespace {

namespace math = fatune_attention::math;

constexpr std::array<Operation, 26> kOperations{{
    {"||", "either", 1, 2, [](const double* v) { return math::either(v[0], v[1]); }},
    {"&&", "both", 2, 2, [](const double* v) { return math::both(v[0], v[1]); }},
    {"<=", "less_equal", 3, 2, [](const double* v) { return math::less_equal(v[0], v[1]); }},
    {">=", "greater_equal", 3, 2, [](const double* v) { return math::greater_equal(v[0], v[1]); }},
    {"==", "equal", 3, 2, [](const double* v) { return math::equal(v[0], v[1]); }},
    {"!=", "not_equal", 3, 2, [](const double* v) { return math::not_equal(v[0], v[1]); }},
    {"<", "less", 3, 2, [](const double* v) { return math::less(v[0], v[1]); }},
    {">", "greater", 3, 2, [](const double* v) { return math::greater(v[0], v[1]); }},
    {"+", "", 4, 2, [](const double* v) { return v[0] + v[1]; }},
    {"-", "", 4, 2, [](const double* v) { return v[0] - v[1]; }},
    {"*", "", 5, 2, [](const double* v) { return v[0] * v[1]; }},
    {"/", "", 5, 2, [](const double* v) { return v[0] / v[1]; }},
    {"%", "remainder_of", 5, 2, [](const double* v) { return math::remainder_of(v[0], v[1]); }},
    {"^", "power", kPowerBinding, 2, [](const double* v) { return math::power(v[0], v[1]); }},
    {"-", "", 0, 1, [](const double* v) { return -v[0]; }},
    {"!", "logical_not", 0, 1, [](const double* v) { return math::logical_not(v[0]); }},
    {kConditional, "conditional", 0, 3,
     [](const double* v) { return math::conditional(v[0], v[1], v[2]); }},
    {"min", "least", 0, kAnyCount, [](const double* v) { return math::least(v[0], v[1]); }},
    {"max", "greatest", 0, kAnyCount, [](const double* v) { return math::greatest(v[0], v[1]); }},
    {"ceil_div", "ceil_div", 0, 2, [](const double* v) { return math::ceil_div(v[0], v[1]); }},
    {"round_up", "round_up", 0, 2, [](const double* v) { return math::round_up(v[0], v[1]); }},
    {"floor", "floor_of", 0, 1, [](const double* v) { return math::floor_of(v[0]); }},
    {"is_pow2", "is_pow2", 0, 1, [](const double* v) { return math::is_pow2(v[0]); }},
    {"ceil_log2", "ceil_log2", 0, 1, [](const double* v) { return math::ceil_log2(v[0]); }},
    {"umulhi_magic", "umulhi_magic", 0, 1,
     [](const double* v) { return math::umulhi_magic(v[0]); }},
    {"tile_sum", "tile_sum", 0, 5,
     [](const double* v) { return math::tile_sum(v[0], v[1], v[2], v[3], v[4]); }},
}};

bool is_function(const Operation& one) {
  return std::isalpha(static_cast<unsigned char>(one.word.front())) != 0;
}

using Kind = ExpressionTree::Kind;

class Parser {
 public:
  Parser(std::string_view text, ExpressionPlace place, const std::string& where)
      : text_(text), place_(place), where_(where) {
    if (text.size() > kMaxExpressionLength) {
      throw Error(code(), fmt::format("an expression of {} characters is too long", text.size()),
                  where, fmt::format("the limit is {}", kMaxExpressionLength));
    }
  }

  ExpressionTree whole() {
    ExpressionTree tree = conditional();
    skip_space();
    if (at_ != text_.size()) {
      fail("something that cannot be read");
    }
    return tree;
  }

 private:
  [[nodiscard]] bool has_texts() const { return place_ == ExpressionPlace::option; }
  [[nodiscard]] ExitCode code() const {
    return place_ == ExpressionPlace::option ? ExitCode::usage : ExitCode::bad_file;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(code(),
                fmt::format("in the expression \"{}\": {} at position {}", visible_text(text_),
                            what, at_ + 1),
                where_,
                fmt::format("expressions are made of names, numbers, {}functions ({}) and "
                            "operators: ?: || && == != < <= > >= + - * / % ^ !; '==' compares",
                            has_texts() ? "texts in quotes, " : "", function_names()));
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }

  bool accept(std::string_view token) {
    skip_space();
    const bool is_next = text_.substr(at_).starts_with(token);
    at_ += is_next ? token.size() : 0;
    return is_next;
  }

  void expect(std::string_view token) {
    if (!accept(token)) {
      fail(fmt::format("no '{}'", token));
    }
  }

  /// Where the next token begins.
  std::size_t begin() {
    skip_space();
    return at_;
  }

  [[nodiscard]] ExpressionTree leaf(Kind kind, std::string_view word, std::size_t from) const {
    return {kind, std::string(word), 0.0, std::string(trim(text_.substr(from, at_ - from)))};
  }

  template <typename... Operands>
  ExpressionTree node(const Operation& operation, std::size_t from, Operands... operands) const {
    ExpressionTree tree = leaf(operation.word == kConditional ? Kind::conditional : Kind::operation,
                               operation.word, from);
    tree.operation = &operation;
    (tree.operands.push_back(std::move(operands)), ...);
    return tree;
  }

  ExpressionTree conditional() {
    const std::size_t from = begin();
    ExpressionTree condition = binary(kLoosestBinding);
    if (!accept("?")) {
      return condition;
    }
    ExpressionTree yes = conditional();
    expect(":");
    ExpressionTree no = conditional();
    return node(operator_of(kConditional, 3), from, std::move(condition), std::move(yes),
                std::move(no));
  }

  const Operation* accept_operator(int least_binding) {
    for (const Operation& one : all_operations()) {
      if (one.binding >= least_binding && one.binding < kPowerBinding && accept(one.word)) {
        return &one;
      }
    }
    return nullptr;
  }

  ExpressionTree binary(int least_binding) {
    const std::size_t from = begin();
    ExpressionTree left = prefixed();
    while (const Operation* found = accept_operator(least_binding)) {
      ExpressionTree right = binary(found->binding + 1);
      left = node(*found, from, std::move(left), std::move(right));
    }
    return left;
  }

  ExpressionTree prefixed() {
    const std::size_t from = begin();
    if (accept("+")) {
      return prefixed();
    }
    for (const std::string_view prefix : {"-", "!"}) {
      if (accept(prefix)) {
        ExpressionTree operand = prefixed();
        return node(operator_of(prefix, 1), from, std::move(operand));
      }
    }
    return power();
  }

  ExpressionTree power() {
    const std::size_t from = begin();
    ExpressionTree base = primary();
    if (!accept("^")) {
      return base;
    }
    ExpressionTree exponent = prefixed();
    return node(operator_of("^", 2), from, std::move(base), std::move(exponent));
  }

  ExpressionTree primary() {
    const std::size_t from = begin();
    if (accept("(")) {
      ExpressionTree inner = conditional();
      expect(")");
      inner.source = text_.substr(from, at_ - from);
      return inner;
    }
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    return has_texts() && (first == '\'' || first == '"')                         ? quoted(first)
           : std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.' ? number()
                                                                                  : name();
  }

  ExpressionTree quoted(char quote) {
    const std::size_t from = at_;
    const std::size_t end = text_.find(quote, from + 1);
    if (end == std::string_view::npos) {
      fail("a quote without an end");
    }
    at_ = end + 1;
    return leaf(Kind::text, text_.substr(from + 1, end - from - 1), from);
  }

  ExpressionTree number() {
    const std::size_t from = at_;
    double value = 0.0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc()) {
      fail("a number that cannot be read");
    }
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    ExpressionTree tree = leaf(Kind::number, {}, from);
    tree.number = value;
    return tree;
  }

  ExpressionTree name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && is_word_character(text_[at_])) {
      ++at_;
    }
    const std::string_view word = text_.substr(from, at_ - from);
    if (word.empty()) {
      fail("no value");
    }
    return accept("(") ? call(word, from) : leaf(Kind::name, word, from);
  }

  ExpressionTree call(std::string_view function, std::size_t from) {
    std::vector<ExpressionTree> arguments{conditional()};
    while (accept(",")) {
      arguments.push_back(conditional());
    }
    expect(")");
    const Operation* const operation = find_function(function);
    if (operation == nullptr || !operation->takes(arguments.size())) {
      at_ = from;
      fail(operation == nullptr ? fmt::format("unknown function '{}'", function)
                                : fmt::format("{} values for {}, which takes {},", arguments.size(),
                                              function, operation->operands));
    }
    ExpressionTree tree = node(*operation, from);
    tree.operands = std::move(arguments);
    return tree;
  }

  std::string_view text_;
  ExpressionPlace place_;
  const std::string& where_;
  std::size_t at_ = 0;
};

}  // namespace

double Operation::of(std::span<const double> values) const {
  if (operands != kAnyCount) {
    return result(values.data());
  }
  std::array<double, 2> pair{values[0], values[0]};
  for (const double value : values) {
    pair = {result(pair.data()), value};
  }
  return result(pair.data());
}

std::span<const Operation> all_operations() { return kOperations; }

const Operation* find_function(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kOperations, [&](const Operation& one) { return is_function(one) && one.word == name; });
  return found == kOperations.end() ? nullptr : found;
}

const Operation& operator_of(std::string_view word, std::size_t operands) {
  return *std::ranges::find_if(kOperations, [&](const Operation& one) {
    return one.word == word && one.operands == operands;
  });
}

std::string function_names() {
  std::vector<std::string_view> names;
  for (const Operation& one : kOperations) {
    if (is_function(one)) {
      names.push_back(one.word);
    }
  }
  return joined(names, ", ");
}

ExpressionTree parse_expression(std::string_view text, ExpressionPlace place,
                                const std::string& where) {
  return Parser(text, place, where).whole();
}

}  // namespace fatune
