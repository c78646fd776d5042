#include "plan/expression_cpp.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/is_among.hpp"
#include "plan/expression_tree.hpp"

namespace fatune {
namespace {

using Kind = ExpressionTree::Kind;
using CodeOfName = std::function<std::string(const std::string&)>;

/// The function of runtime/expression_math.hpp for an operator or a function, if it has another
/// name there.
struct Renamed {
  std::string_view word;
  std::string_view function;
};
constexpr std::array<Renamed, 15> kRenamed{{{"?:", "conditional"},
                                            {"||", "either"},
                                            {"&&", "both"},
                                            {"<=", "less_equal"},
                                            {">=", "greater_equal"},
                                            {"==", "equal"},
                                            {"!=", "not_equal"},
                                            {"<", "less"},
                                            {">", "greater"},
                                            {"%", "remainder_of"},
                                            {"^", "power"},
                                            {"!", "logical_not"},
                                            {"floor", "floor_of"},
                                            {"min", "least"},
                                            {"max", "greatest"}}};

bool takes_list(std::string_view word) { return word == "min" || word == "max"; }

std::string call_code(std::string_view word, const std::vector<std::string>& operands) {
  const auto* const renamed = std::ranges::find(kRenamed, word, &Renamed::word);
  const std::string list = fmt::format("{}", fmt::join(operands, ", "));
  return fmt::format("math::{}({})", renamed == kRenamed.end() ? word : renamed->function,
                     takes_list(word) ? "{" + list + "}" : list);
}

std::string code_of(const ExpressionTree& tree, const CodeOfName& names) {
  std::vector<std::string> operands;
  for (const ExpressionTree& operand : tree.operands) {
    operands.push_back(code_of(operand, names));
  }
  constexpr std::array<std::string_view, 4> kOfCpp{"+", "-", "*", "/"};
  const bool is_in_cpp = is_among(tree.word, kOfCpp);
  switch (tree.kind) {
    case Kind::number:
      return cpp_number(tree.number);
    case Kind::name:
      return names(tree.word);
    case Kind::text:
      throw std::logic_error("an expression of C++ has no texts: " + tree.source);
    case Kind::prefix:
      return is_in_cpp ? fmt::format("(-{})", operands[0]) : call_code(tree.word, operands);
    case Kind::binary:
      return is_in_cpp ? fmt::format("({} {} {})", operands[0], tree.word, operands[1])
                       : call_code(tree.word, operands);
    case Kind::conditional:
    case Kind::call:
      break;
  }
  return call_code(tree.word, operands);
}

}  // namespace

std::string cpp_of(const Expression& expression,
                   const std::function<std::string(const std::string&)>& code_of_name) {
  return code_of(parse_expression(expression.text()), code_of_name);
}

std::string cpp_number(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace fatune
