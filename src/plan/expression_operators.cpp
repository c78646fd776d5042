#include "plan/expression_operators.hpp"

#include <cmath>
#include <functional>

#include "runtime/expression_math.hpp"

namespace fatune {
namespace {

namespace math = fatune_attention::math;

int& unknown_comparisons() {
  thread_local int count = 0;
  return count;
}

template <typename Operation>
double computed(double a, double b) {
  return Operation()(a, b);
}

template <typename Compare>
double compared(double a, double b) {
  const double result = math::compared<Compare>(a, b);
  unknown_comparisons() += static_cast<int>(std::isnan(result));
  return result;
}
/// A side that the result does not depend on may be unknown, and is not counted.
double decided(double result, double a, double b) {
  if (!std::isnan(result)) {
    unknown_comparisons() -= static_cast<int>(std::isnan(a)) + static_cast<int>(std::isnan(b));
  }
  return result;
}
double both(double a, double b) { return decided(math::both(a, b), a, b); }
double either(double a, double b) { return decided(math::either(a, b), a, b); }

}  // namespace

void define_operators(mu::Parser& parser) {
  parser.EnableBuiltInOprt(false);
  parser.DefineOprt("||", &either, mu::prLOR, mu::oaLEFT);
  parser.DefineOprt("&&", &both, mu::prLAND, mu::oaLEFT);
  parser.DefineOprt("<", &compared<std::less<>>, mu::prCMP, mu::oaLEFT);
  parser.DefineOprt("<=", &compared<std::less_equal<>>, mu::prCMP, mu::oaLEFT);
  parser.DefineOprt(">", &compared<std::greater<>>, mu::prCMP, mu::oaLEFT);
  parser.DefineOprt(">=", &compared<std::greater_equal<>>, mu::prCMP, mu::oaLEFT);
  parser.DefineOprt("==", &compared<std::equal_to<>>, mu::prCMP, mu::oaLEFT);
  parser.DefineOprt("!=", &compared<std::not_equal_to<>>, mu::prCMP, mu::oaLEFT);
  parser.DefineOprt("+", &computed<std::plus<>>, mu::prADD_SUB, mu::oaLEFT);
  parser.DefineOprt("-", &computed<std::minus<>>, mu::prADD_SUB, mu::oaLEFT);
  parser.DefineOprt("*", &computed<std::multiplies<>>, mu::prMUL_DIV, mu::oaLEFT);
  parser.DefineOprt("/", &computed<std::divides<>>, mu::prMUL_DIV, mu::oaLEFT);
  parser.DefineOprt("%", &math::remainder_of, mu::prMUL_DIV, mu::oaLEFT);
  parser.DefineOprt("^", &math::power, mu::prPOW, mu::oaRIGHT);
  parser.DefineInfixOprt("!", &math::logical_not);
}

UnknownComparisons::UnknownComparisons() { unknown_comparisons() = 0; }

bool UnknownComparisons::any() const { return unknown_comparisons() != 0; }

}  // namespace fatune
