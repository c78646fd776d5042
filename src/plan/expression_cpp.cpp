#include "plan/expression_cpp.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

/// An operator between two operands. `code` is a format string for the operands' code.
struct BinaryOperator {
  std::string_view text;
  int binding;  ///< precedence; the greater binds tighter
  std::string_view code;
};

// Where one operator is a prefix of another, the longer one comes first. Operators of equal
// precedence associate from left to right.
constexpr int kLoosest = 1;
constexpr std::array<BinaryOperator, 13> kBinary{{{"||", 1, "math::either({}, {})"},
                                                  {"&&", 2, "math::both({}, {})"},
                                                  {"<=", 3, "math::less_equal({}, {})"},
                                                  {">=", 3, "math::greater_equal({}, {})"},
                                                  {"==", 3, "math::equal({}, {})"},
                                                  {"!=", 3, "math::not_equal({}, {})"},
                                                  {"<", 3, "math::less({}, {})"},
                                                  {">", 3, "math::greater({}, {})"},
                                                  {"+", 4, "({} + {})"},
                                                  {"-", 4, "({} - {})"},
                                                  {"*", 5, "({} * {})"},
                                                  {"/", 5, "({} / {})"},
                                                  {"%", 5, "math::remainder_of({}, {})"}}};

/// Functions that have another name in C++ than in expressions, or take a list there.
struct RenamedFunction {
  std::string_view name;
  std::string_view code;
};
constexpr std::array<RenamedFunction, 3> kRenamed{{{"min", "math::least({{{}}})"},
                                                   {"max", "math::greatest({{{}}})"},
                                                   {"floor", "math::floor_of({})"}}};

/// Translates an expression that Expression has accepted.
class Translator {
 public:
  Translator(std::string_view text, const std::function<std::string(const std::string&)>& names)
      : text_(text), names_(names) {}

  std::string whole() {
    std::string code = conditional();
    skip_space();
    if (at_ != text_.size()) {
      fail();
    }
    return code;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::logic_error(fmt::format("not an expression: {}", text_));
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }

  bool accept(std::string_view token) {
    skip_space();
    const bool is_next = text_.substr(at_).substr(0, token.size()) == token;
    at_ += is_next ? token.size() : 0;
    return is_next;
  }

  void expect(std::string_view token) {
    if (!accept(token)) {
      fail();
    }
  }

  std::string conditional() {
    std::string condition = binary(kLoosest);
    if (!accept("?")) {
      return condition;
    }
    std::string yes = conditional();
    expect(":");
    return fmt::format("math::conditional({}, {}, {})", condition, yes, conditional());
  }

  const BinaryOperator* accept_operator(int least_binding) {
    for (const BinaryOperator& one : kBinary) {
      if (one.binding >= least_binding && accept(one.text)) {
        return &one;
      }
    }
    return nullptr;
  }

  std::string binary(int least_binding) {
    std::string left = unary();
    while (const BinaryOperator* found = accept_operator(least_binding)) {
      const std::string right = binary(found->binding + 1);
      left = fmt::format(fmt::runtime(found->code), left, right);
    }
    return left;
  }

  std::string unary() {
    if (accept("-")) {
      return fmt::format("(-{})", unary());
    }
    if (accept("+")) {
      return unary();
    }
    skip_space();
    if (text_.substr(at_, 2) != "!=" && accept("!")) {
      return fmt::format("math::logical_not({})", unary());
    }
    return power();
  }

  std::string power() {
    std::string base = primary();
    return accept("^") ? fmt::format("math::power({}, {})", base, unary()) : base;
  }

  std::string primary() {
    if (accept("(")) {
      std::string inner = conditional();
      expect(")");
      return inner;
    }
    skip_space();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    return std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.' ? number() : name();
  }

  std::string number() {
    double value = 0.0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc()) {
      fail();
    }
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return cpp_number(value);
  }

  std::string name() {
    std::size_t end = at_;
    while (end < text_.size() && is_word_character(text_[end])) {
      ++end;
    }
    if (end == at_) {
      fail();
    }
    const std::string word(text_.substr(at_, end - at_));
    at_ = end;
    return accept("(") ? call(word) : names_(word);
  }

  std::string call(const std::string& function) {
    std::vector<std::string> arguments{conditional()};
    while (accept(",")) {
      arguments.push_back(conditional());
    }
    expect(")");
    const std::string list = fmt::format("{}", fmt::join(arguments, ", "));
    for (const RenamedFunction& renamed : kRenamed) {
      if (renamed.name == function) {
        return fmt::format(fmt::runtime(renamed.code), list);
      }
    }
    return fmt::format("math::{}({})", function, list);
  }

  std::string_view text_;
  const std::function<std::string(const std::string&)>& names_;
  std::size_t at_ = 0;
};

}  // namespace

std::string cpp_of(const Expression& expression,
                   const std::function<std::string(const std::string&)>& code_of_name) {
  return Translator(expression.text(), code_of_name).whole();
}

std::string cpp_number(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace fatune
