#include "plan/expression.hpp"

#include <gmock/gmock.h>

#include <clocale>
#include <cmath>
#include <locale>
#include <thread>

#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

using fixtures::expect_error;

class ExpressionTest : public ::testing::Test {
 protected:
  ExpressionTest() {
    symbols_.add("a", {});
    symbols_.add("b", {});
    symbols_.add("seq_len", {.problem = true});
    symbols_.add("sm_count", {.device = true});
  }

  double value(const std::string& text) const {
    return Expression(text, symbols_, "f.json: /x").number(scope_);
  }

  void expect_bad_expression(const std::string& text, const std::vector<std::string>& parts) const {
    expect_error([&] { (void)value(text); }, ExitCode::bad_file, parts);
  }

  SymbolTable symbols_;
  std::vector<double> scope_{6.0, 4.0, 1000.0, 132.0};
};

TEST_F(ExpressionTest, OperatorsBindAsInC) {
  EXPECT_EQ(value("1 + 2 * 3"), 7.0);
  EXPECT_EQ(value("a % b * 10"), 20.0);
  EXPECT_EQ(value("10 * a % b"), 0.0);
  EXPECT_EQ(value("a - b - 1"), 1.0);
  EXPECT_EQ(value("-a + 1"), -5.0);
  EXPECT_EQ(value("a == 6 && b == 4"), 1.0);
  EXPECT_EQ(value("a == 6 && b == 5 || 1"), 1.0);
  EXPECT_EQ(value("0 && 1 || 1"), 1.0);
  EXPECT_EQ(value("1 || 0 && 0"), 1.0);
  EXPECT_EQ(value("a + 1 > b == 1"), 1.0);
  EXPECT_EQ(value("a != b"), 1.0);
  EXPECT_EQ(value("a <= 6 && a >= 6"), 1.0);
  EXPECT_EQ(value("2 + 3 * 4 ^ 2 ^ 0 - 1"), 13.0);
  EXPECT_EQ(value("64 / 4 / 2 % 5"), 3.0);
  EXPECT_EQ(value("a>=-b&&!0"), 1.0);
  EXPECT_EQ(value("-a + -(b)"), -10.0);
}

TEST_F(ExpressionTest, NotBindsTighterThanComparison) {
  EXPECT_EQ(value("!a"), 0.0);
  EXPECT_EQ(value("!0"), 1.0);
  EXPECT_EQ(value("!(a == b)"), 1.0);
  EXPECT_EQ(value("!0 && a == 6"), 1.0);
  EXPECT_EQ(value("!a == 0"), 1.0);
  EXPECT_EQ(value("!(!a)"), 1.0);
  EXPECT_EQ(value("a != !b"), 1.0);
}

TEST_F(ExpressionTest, ConditionalsNestAndTakeOneBranch) {
  EXPECT_EQ(value("a > b ? 1 : 2"), 1.0);
  EXPECT_EQ(value("a < b ? 1 : a == 6 ? 2 : 3"), 2.0);
  EXPECT_EQ(value("a > 0 ? a : 1 / 0"), 6.0);
}

TEST_F(ExpressionTest, Functions) {
  EXPECT_EQ(value("min(a, b)"), 4.0);
  EXPECT_EQ(value("max(a, b, 9, 2)"), 9.0);
  EXPECT_EQ(value("ceil_div(a, b)"), 2.0);
  EXPECT_EQ(value("ceil_div(8, b)"), 2.0);
  EXPECT_EQ(value("floor(a / b)"), 1.0);
  for (const int power : {1, 2, 64, 1 << 30}) {
    EXPECT_EQ(value("is_pow2(" + std::to_string(power) + ")"), 1.0);
  }
  for (const char* other : {"0", "3", "-4", "0.5", "6"}) {
    EXPECT_EQ(value("is_pow2(" + std::string(other) + ")"), 0.0) << other;
  }
}

TEST_F(ExpressionTest, RoundsUpToMultiples) {
  EXPECT_EQ(value("round_up(a, b)"), 8.0);
  EXPECT_EQ(value("round_up(8, b)"), 8.0);
  expect_bad_expression("round_up(a, 0)", {"not a finite number"});
}

TEST_F(ExpressionTest, InfinityIsForThoseWhoTakeIt) {
  const Expression sign("a > b ? inf : -inf", symbols_, "f.json: /x");
  EXPECT_EQ(sign.number_or_infinity(scope_), HUGE_VAL);
  EXPECT_EQ(Expression("-inf", symbols_, "f").number_or_infinity(scope_), -HUGE_VAL);
  EXPECT_EQ(Expression("a > b ? 1 : inf", symbols_, "f").number_or_infinity(scope_), 1.0);
  expect_bad_expression("inf", {"not a finite number"});
  expect_error([&] { (void)Expression("a / (b - 4)", symbols_, "f").number_or_infinity(scope_); },
               ExitCode::bad_file, {"a = 6, b = 4", "divided by zero"});
  expect_error([&] { (void)Expression("inf - inf + a", symbols_, "f").number_or_infinity(scope_); },
               ExitCode::bad_file, {"for a = 6"});
}

TEST_F(ExpressionTest, AnUnknownNameIsAnsweredWithTheKnown) {
  expect_bad_expression("a + c",
                        {"f.json: /x", "\"a + c\"", "unknown name 'c'", "a, b, seq_len, sm_count"});
  expect_bad_expression("sin(a)", {"unknown function 'sin'", "min, max, ceil_div"});
  expect_bad_expression("_pi", {"unknown name '_pi'"});
}

TEST_F(ExpressionTest, ANameThatIsNotKnownYetIsRefused) {
  expect_error([&] { Expression("a + seq_len", symbols_, "f", Needs{}); }, ExitCode::bad_file,
               {"cannot use the name 'seq_len'", "names known here: a, b"});
}

TEST_F(ExpressionTest, SyntaxErrorsNameTheirPosition) {
  expect_bad_expression("a +", {"position"});
  expect_bad_expression("(a", {"position"});
  expect_bad_expression("a b", {"position"});
  expect_bad_expression("", {"\"\""});
  expect_bad_expression("min()", {"\"min()\""});
  expect_bad_expression("a + ceil_div(a)", {"1 values for ceil_div, which takes 2", "position 5"});
  expect_bad_expression("a ? b", {"position"});
  expect_bad_expression("a, b", {"\"a, b\""});
  expect_bad_expression("a & b", {"position"});
}

TEST_F(ExpressionTest, ForeignCharactersAreRefused) {
  expect_bad_expression("a = 5", {"position 3", "'==' compares"});
  expect_bad_expression("a == = 5", {"position 6"});
  expect_bad_expression("a >= = 3", {"position 6"});
  expect_bad_expression("\"a\"", {"position 1"});
  expect_bad_expression("a; b", {"position 2"});
  expect_bad_expression("a + \xc3\xa4", {"position 5"});
  expect_bad_expression(std::string("a\0b", 3), {"position 2"});
}

TEST_F(ExpressionTest, LengthIsLimited) {
  std::string longest = "1";
  while (longest.size() + 2 <= kMaxExpressionLength) {
    longest += "+1";
  }
  EXPECT_EQ(value(longest), static_cast<double>(longest.size() + 1) / 2.0);
  expect_bad_expression(longest + "+1", {"characters is too long", "1024"});
}

TEST_F(ExpressionTest, NestingUpToTheLengthLimitIsHarmless) {
  EXPECT_EQ(value(std::string(500, '(') + "a" + std::string(500, ')')), 6.0);
  expect_bad_expression(std::string(1000, '('), {"position"});
  std::string sum = "a";
  std::string least = "min(a";
  for (int i = 0; i < 200; ++i) {
    sum = "1+(" + sum + ")";
    least += ",b";
  }
  EXPECT_EQ(value(sum), 206.0);
  EXPECT_EQ(value(least + ")"), 4.0);
}

TEST_F(ExpressionTest, CombinesWithOthers) {
  const Expression a("a", symbols_, "f.json: /x");
  const Expression both(operator_of("&&", 2), {Expression("b / 0 > 1", symbols_, "f.json: /y"), a});
  expect_error([&] { (void)both.holds(scope_); }, ExitCode::bad_file,
               {"f.json: /y", "\"b / 0 > 1 && a\"", "because \"b / 0\" is inf"});
  const Expression choice(operator_of(kConditional, 3),
                          {Expression("seq_len == 0", symbols_, ""), a, Expression(-1.0)});
  EXPECT_EQ(choice.number(scope_), -1.0);
  EXPECT_EQ(choice.needs(), Needs{.problem = true});
}

TEST_F(ExpressionTest, ADivisionByZeroIsNeitherTrueNorFalse) {
  for (const char* text :
       {"a / (b - 4) > 2", "a / (b - 4) <= 2", "0 / (b - 4) == 1", "a / (b - 4) != 1", "1 < a % 0",
        "!(a / (b - 4) > 2)", "min(a, b / 0) > 3", "is_pow2(a / 0)", "a / 0 > 1 ? 1 : 2",
        "a == 6 && a / 0 > 1", "a == 5 || a / 0 > 1", "(a / 0 > 1) == 1", "(a / 0 > 1) ^ 0",
        "1 ^ (a / 0 > 1)"}) {
    expect_bad_expression(text, {"not a finite number", "divided by zero"});
  }
}

TEST_F(ExpressionTest, ADivisionByZeroThatDoesNotMatterIsNone) {
  EXPECT_EQ(value("b == 4 || a / (b - 4) > 2"), 1.0);
  EXPECT_EQ(value("b != 4 && a / (b - 4) > 2"), 0.0);
  EXPECT_EQ(value("a / (b - 4) > 2 && b != 4"), 0.0);
  EXPECT_EQ(value("b == 4 ? 7 : a / (b - 4) > 2"), 7.0);
}

TEST_F(ExpressionTest, ResultsMustBeFinite) {
  expect_bad_expression("a / (b - 4)", {"not a finite number", "b = 4", "divided by zero"});
  expect_bad_expression("a % 0", {"not a finite number"});
  expect_bad_expression("10 ^ 400", {"not a finite number"});
  expect_bad_expression("min(a / (b - 4), 3) + 1 > 2 ? 1 : 2",
                        {"because \"a / (b - 4)\" is inf for a = 6, b = 4"});
  expect_bad_expression("b == 4 ? 1 / 0 : 2 / 0", {"because \"1 / 0\" is inf for b = 4"});
  expect_bad_expression("b == 5 ? 1 / 0 : 2 / 0", {"because \"2 / 0\" is inf for b = 4"});
}

TEST_F(ExpressionTest, IntegersMustBeWhole) {
  const auto integer = [&](const std::string& text) {
    return Expression(text, symbols_, "f.json: /x").integer(scope_);
  };
  EXPECT_EQ(integer("a / 2"), 3);
  EXPECT_EQ(integer("0 - a"), -6);
  EXPECT_EQ(integer("2 ^ 53"), std::int64_t{1} << 53);
  expect_error([&] { (void)integer("a / b"); }, ExitCode::bad_file,
               {"1.5 is not a whole number", "a = 6", "b = 4", "ceil_div"});
  expect_error([&] { (void)integer("2 ^ 60"); }, ExitCode::bad_file, {"more than 2^53"});
}

TEST_F(ExpressionTest, NeedsFollowFromTheNames) {
  EXPECT_EQ(Expression("a + b", symbols_, "f").needs(), Needs{});
  EXPECT_EQ(Expression("a + seq_len", symbols_, "f").needs(), (Needs{.problem = true}));
  EXPECT_EQ(Expression("seq_len * sm_count", symbols_, "f").needs(),
            (Needs{.problem = true, .device = true}));
}

/// A locale facet with a decimal comma, independent of the machine's locales.
class CommaDecimal : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(ExpressionTest, NumbersDoNotDependOnTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaDecimal));
  EXPECT_EQ(value("1.5 * 2"), 3.0);
  EXPECT_EQ(value("max(1.5, 0.5)"), 1.5);
  EXPECT_EQ(value("1000 + 1"), 1001.0);
  std::locale::global(before);
}

TEST_F(ExpressionTest, CopiesAndThreadsShareIt) {
  const Expression expression("a * 1000 + b", symbols_, "f");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong, t, copy = expression] {
      for (int i = 0; i < 2000; ++i) {
        const std::vector<double> scope{static_cast<double>(t), static_cast<double>(i), 0.0, 0.0};
        wrong[static_cast<std::size_t>(t)] += copy.number(scope) == t * 1000.0 + i ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(wrong, ::testing::Each(0));
}

TEST(SymbolTable, RefusesBadAndTakenNames) {
  SymbolTable symbols;
  EXPECT_EQ(symbols.add("B_r", {}), 0U);
  EXPECT_THROW(symbols.add("B_r", {}), std::invalid_argument);
  for (const char* name : {"", "1a", "a-b", "a b", "\xc3\xa4"}) {
    EXPECT_THROW(symbols.add(name, {}), std::invalid_argument) << name;
  }
  EXPECT_THROW(symbols.add(std::string(65, 'a'), {}), std::invalid_argument);
}

}  // namespace
}  // namespace fatune
