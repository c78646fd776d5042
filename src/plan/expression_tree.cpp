#include "plan/expression_tree.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"
#include "core/visible_text.hpp"
#include "plan/expression.hpp"
#include "plan/expression_functions.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

using Kind = ExpressionTree::Kind;

namespace math = fatune_attention::math;

struct BinaryOperator {
  std::string_view text;
  int binding;  ///< precedence; the greater binds tighter
  double (*result)(double, double);
};

// Where one operator is a prefix of another, the longer one comes first. Operators of equal
// precedence associate from left to right.
constexpr int kLoosest = 1;
constexpr int kPower = 6;  // read by power(), because it associates from right to left
constexpr std::array<BinaryOperator, 14> kBinary{{
    {"||", 1, math::either},
    {"&&", 2, math::both},
    {"<=", 3, math::less_equal},
    {">=", 3, math::greater_equal},
    {"==", 3, math::equal},
    {"!=", 3, math::not_equal},
    {"<", 3, math::less},
    {">", 3, math::greater},
    {"+", 4, [](double a, double b) { return a + b; }},
    {"-", 4, [](double a, double b) { return a - b; }},
    {"*", 5, [](double a, double b) { return a * b; }},
    {"/", 5, [](double a, double b) { return a / b; }},
    {"%", 5, math::remainder_of},
    {"^", kPower, math::power},
}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ExpressionTree whole() {
    ExpressionTree tree = conditional();
    skip_space();
    if (at_ != text_.size()) {
      fail("something that cannot be read");
    }
    return tree;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::usage,
                fmt::format("in the expression \"{}\": {} at position {}", visible_text(text_),
                            what, at_ + 1),
                {},
                fmt::format("expressions are made of names, numbers, texts in quotes, functions "
                            "({}) and operators: ?: || && == != < <= > >= + - * / % ^ !; '==' "
                            "compares",
                            function_names()));
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

  ExpressionTree node(Kind kind, std::string_view word, std::size_t from,
                      std::vector<ExpressionTree> operands) const {
    return {kind, std::string(word), 0.0, std::string(trim(text_.substr(from, at_ - from))),
            std::move(operands)};
  }

  ExpressionTree conditional() {
    const std::size_t from = begin();
    ExpressionTree condition = binary(kLoosest);
    if (!accept("?")) {
      return condition;
    }
    ExpressionTree yes = conditional();
    expect(":");
    ExpressionTree no = conditional();
    return node(Kind::conditional, "?:", from,
                {std::move(condition), std::move(yes), std::move(no)});
  }

  const BinaryOperator* accept_operator(int least_binding) {
    for (const BinaryOperator& one : kBinary) {
      if (one.binding >= least_binding && one.binding < kPower && accept(one.text)) {
        return &one;
      }
    }
    return nullptr;
  }

  ExpressionTree binary(int least_binding) {
    const std::size_t from = begin();
    ExpressionTree left = prefixed();
    while (const BinaryOperator* found = accept_operator(least_binding)) {
      ExpressionTree right = binary(found->binding + 1);
      left = node(Kind::binary, found->text, from, {std::move(left), std::move(right)});
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
        return node(Kind::prefix, prefix, from, {prefixed()});
      }
    }
    return power();
  }

  ExpressionTree power() {
    const std::size_t from = begin();
    ExpressionTree base = primary();
    return accept("^") ? node(Kind::binary, "^", from, {std::move(base), prefixed()}) : base;
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
    return first == '\'' || first == '"'                                          ? quoted(first)
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
    return node(Kind::text, text_.substr(from + 1, end - from - 1), from, {});
  }

  ExpressionTree number() {
    const std::size_t from = at_;
    double value = 0.0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc()) {
      fail("a number that cannot be read");
    }
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    ExpressionTree tree = node(Kind::number, {}, from, {});
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
    return accept("(") ? call(word, from) : node(Kind::name, word, from, {});
  }

  ExpressionTree call(std::string_view function, std::size_t from) {
    std::vector<ExpressionTree> arguments{conditional()};
    while (accept(",")) {
      arguments.push_back(conditional());
    }
    expect(")");
    return node(Kind::call, function, from, std::move(arguments));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

ExpressionTree parse_expression(std::string_view text) {
  if (text.size() > Expression::kMaxLength) {
    throw Error(ExitCode::usage,
                fmt::format("an expression of {} characters is too long", text.size()), {},
                fmt::format("the limit is {}", Expression::kMaxLength));
  }
  return Parser(text).whole();
}

double operated(const ExpressionTree& tree, std::span<const double> operands) {
  switch (tree.kind) {
    case Kind::prefix:
      return tree.word == "!" ? math::logical_not(operands[0]) : -operands[0];
    case Kind::binary:
      return std::ranges::find(kBinary, tree.word, &BinaryOperator::text)
          ->result(operands[0], operands[1]);
    case Kind::conditional:
      return math::conditional(operands[0], operands[1], operands[2]);
    case Kind::call:
      return called(tree.word, operands).value_or(math::kNoNumber);
    case Kind::number:
    case Kind::name:
    case Kind::text:
      break;
  }
  return tree.number;
}

}  // namespace fatune
