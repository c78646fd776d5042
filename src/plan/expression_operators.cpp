#include "plan/expression_operators.hpp"

#include <cmath>
#include <functional>
#include <limits>

namespace fatune {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

int& unknown_comparisons() {
  thread_local int count = 0;
  return count;
}

template <typename Operation>
double computed(double a, double b) {
  return Operation()(a, b);
}

double remainder_of(double a, double b) { return std::fmod(a, b); }
double power(double a, double b) { return std::pow(a, b); }

template <typename Compare>
double compared(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    ++unknown_comparisons();
    return kUnknown;
  }
  return Compare()(a, b) ? 1.0 : 0.0;
}
/// One side decides, whatever the other is.
double decided(double value, double a, double b) {
  unknown_comparisons() -= static_cast<int>(std::isnan(a)) + static_cast<int>(std::isnan(b));
  return value;
}
double both(double a, double b) {
  if (a == 0.0 || b == 0.0) {
    return decided(0.0, a, b);
  }
  return std::isnan(a) || std::isnan(b) ? kUnknown : 1.0;
}
double either(double a, double b) {
  const bool a_true = !std::isnan(a) && a != 0.0;
  const bool b_true = !std::isnan(b) && b != 0.0;
  if (a_true || b_true) {
    return decided(1.0, a, b);
  }
  return std::isnan(a) || std::isnan(b) ? kUnknown : 0.0;
}
double logical_not(double a) { return std::isnan(a) ? kUnknown : a == 0.0 ? 1.0 : 0.0; }

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
  parser.DefineOprt("%", &remainder_of, mu::prMUL_DIV, mu::oaLEFT);
  parser.DefineOprt("^", &power, mu::prPOW, mu::oaRIGHT);
  parser.DefineInfixOprt("!", &logical_not);
}

UnknownComparisons::UnknownComparisons() { unknown_comparisons() = 0; }

bool UnknownComparisons::any() const { return unknown_comparisons() != 0; }

}  // namespace fatune
