#include "plan/expression.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fatune {
namespace {

std::string cpp(const std::string& text) {
  SymbolTable symbols;
  for (const char* name : {"a", "b", "c"}) {
    symbols.add(name, {});
  }
  return cpp_of(Expression(text, symbols, "here"),
                [&](std::size_t symbol) { return symbols.name(symbol); });
}

TEST(ExpressionCpp, WritesNumbersAndNames) {
  EXPECT_EQ(cpp("64"), "64.0");
  EXPECT_EQ(cpp("0.5"), "0.5");
  EXPECT_EQ(cpp("2e3"), "2000.0");
  EXPECT_EQ(cpp("9007199254740991"), "9007199254740991.0");
  EXPECT_EQ(cpp("  ( a )"), "a");
  EXPECT_EQ(cpp("inf"), "math::kInfinity");
}

TEST(ExpressionCpp, KeepsTheOrderOfOperators) {
  EXPECT_EQ(cpp("a + b * c"), "(a + (b * c))");
  EXPECT_EQ(cpp("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(cpp("a / b % c"), "math::remainder_of((a / b), c)");
  EXPECT_EQ(cpp("-a ^ b"), "(-math::power(a, b))");
  EXPECT_EQ(cpp("a ^ b ^ c"), "math::power(a, math::power(b, c))");
  EXPECT_EQ(cpp("a ^ -b"), "math::power(a, (-b))");
  EXPECT_EQ(cpp("!a && b || c"), "math::either(math::both(math::logical_not(a), b), c)");
  EXPECT_EQ(cpp("a < b == c"), "math::equal(math::less(a, b), c)");
  EXPECT_EQ(cpp("a != b"), "math::not_equal(a, b)");
  EXPECT_EQ(cpp("!a != b"), "math::not_equal(math::logical_not(a), b)");
}

TEST(ExpressionCpp, NestsConditions) {
  EXPECT_EQ(cpp("a ? b : c"), "math::conditional(a, b, c)");
  EXPECT_EQ(cpp("a ? b : c ? 1 : 2"), "math::conditional(a, b, math::conditional(c, 1.0, 2.0))");
  EXPECT_EQ(cpp("a > 1 ? b ? 1 : 2 : c"),
            "math::conditional(math::greater(a, 1.0), math::conditional(b, 1.0, 2.0), c)");
}

TEST(ExpressionCpp, CallsFunctions) {
  EXPECT_EQ(cpp("min(a, b + 1, c)"), "math::least(a, (b + 1.0), c)");
  EXPECT_EQ(cpp("max(a, b)"), "math::greatest(a, b)");
  EXPECT_EQ(cpp("floor(ceil_div(a, 2))"), "math::floor_of(math::ceil_div(a, 2.0))");
  EXPECT_EQ(cpp("round_up(a, 16) % b"), "math::remainder_of(math::round_up(a, 16.0), b)");
}

}  // namespace
}  // namespace fatune
