#include "plan/expression_tree.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

/// The tree in prefix notation: "(+ a 2)".
std::string shown(const ExpressionTree& tree) {
  if (tree.operands.empty()) {
    return tree.source;
  }
  std::string text = "(" + tree.word;
  for (const ExpressionTree& operand : tree.operands) {
    text += " " + shown(operand);
  }
  return text + ")";
}

std::string parsed(const std::string& text) {
  return shown(parse_expression(text, ExpressionPlace::option, "--filter"));
}

std::string message_of(const std::string& text) {
  try {
    static_cast<void>(parse_expression(text, ExpressionPlace::option, "--filter"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(ExpressionTree, FollowsPrecedence) {
  EXPECT_EQ(parsed("a || b && c == d + e * f ^ -g"),
            "(|| a (&& b (== c (+ d (* e (^ f (- g)))))))");
  EXPECT_EQ(parsed("a - b - c"), "(- (- a b) c)");
  EXPECT_EQ(parsed("a ^ b ^ c"), "(^ a (^ b c))");
  EXPECT_EQ(parsed("!a && (b ? c : d ? 1 : 2)"), "(&& (! a) (?: b c (?: d 1 2)))");
  EXPECT_EQ(parsed("min(a, b + 1)"), "(min a (+ b 1))");
}

TEST(ExpressionTree, KeepsTextsInQuotes) {
  const ExpressionTree tree =
      parse_expression("family == 'a \"b\" + c'", ExpressionPlace::option, "");
  EXPECT_EQ(tree.operands[1].kind, ExpressionTree::Kind::text);
  EXPECT_EQ(tree.operands[1].word, "a \"b\" + c");
  EXPECT_EQ(tree.source, "family == 'a \"b\" + c'");
  EXPECT_EQ(tree.operands[1].source, "'a \"b\" + c'");
}

TEST(ExpressionTree, NamesThePositionOfAMistake) {
  EXPECT_THAT(message_of("a <"), HasSubstr("in the expression \"a <\": no value at position 4"));
  EXPECT_THAT(message_of("a = 3"), HasSubstr("cannot be read at position 3"));
  EXPECT_THAT(message_of("(a"), HasSubstr("no ')' at position 3"));
  EXPECT_THAT(message_of("a ? b"), HasSubstr("no ':' at position 6"));
  EXPECT_THAT(message_of("a == 'b"), HasSubstr("a quote without an end at position 6"));
  EXPECT_THAT(message_of(""), HasSubstr("no value at position 1"));
  EXPECT_THAT(message_of(std::string(2000, '(')), HasSubstr("2000 characters is too long"));
}

}  // namespace
}  // namespace fatune
