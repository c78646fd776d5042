#include "plan/expression_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>

#include <muParser.h>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kGreatestDivisor = 2147483648.0;  // 2^31

double ceil_div(double a, double b) { return std::ceil(a / b); }

double floor_of(double a) { return std::floor(a); }
double round_up_to(double a, double b) { return std::ceil(a / b) * b; }

double is_pow2(double a) {
  int exponent = 0;
  if (!std::isfinite(a)) {
    return kNoNumber;
  }
  return a >= 1.0 && std::frexp(a, &exponent) == 0.5 ? 1.0 : 0.0;
}

bool all_finite(const double* first, int count) {
  return std::all_of(first, first + count, [](double value) { return std::isfinite(value); });
}

double least(const double* first, int count) {
  return count < 1 || !all_finite(first, count) ? kNoNumber
                                                : *std::min_element(first, first + count);
}

double greatest(const double* first, int count) {
  return count < 1 || !all_finite(first, count) ? kNoNumber
                                                : *std::max_element(first, first + count);
}

using Function = std::variant<mu::fun_type1, mu::fun_type2, mu::fun_type5, mu::multfun_type>;

struct NamedFunction {
  const char* name;
  Function function;
};

constexpr std::array<NamedFunction, 9> kFunctions{{{"min", &least},
                                                   {"max", &greatest},
                                                   {"ceil_div", &ceil_div},
                                                   {"round_up", &round_up_to},
                                                   {"floor", &floor_of},
                                                   {"is_pow2", &is_pow2},
                                                   {"ceil_log2", &ceil_log2},
                                                   {"umulhi_magic", &umulhi_magic},
                                                   {"tile_sum", &tile_sum}}};

}  // namespace

void define_functions(mu::Parser& parser) {
  for (const NamedFunction& named : kFunctions) {
    std::visit([&](auto function) { parser.DefineFun(named.name, function); }, named.function);
  }
}

std::string function_names() { return joined(kFunctions, ", ", &NamedFunction::name); }

double ceil_log2(double x) {
  if (!(x >= 1.0) || std::isinf(x)) {
    return kNoNumber;
  }
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return fraction == 0.5 ? exponent - 1 : exponent;
}

double umulhi_magic(double d) {
  if (!(d >= 1.0) || d > kGreatestDivisor || std::trunc(d) != d) {
    return kNoNumber;
  }
  const auto divisor = static_cast<std::uint64_t>(d);
  const auto shift = static_cast<unsigned>(ceil_log2(d));
  const std::uint64_t power = std::uint64_t{1} << (31 + shift);
  const std::uint64_t magic = (power + divisor - 1) / divisor;
  return divisor == 1 ? 0.0 : static_cast<double>(magic);
}

double tile_sum(double count, double first, double step, double width, double most) {
  constexpr double kMostTerms = 16777216.0;  // each costs about a nanosecond
  const auto finite = {count, first, step, width, most};
  if (!std::ranges::all_of(finite, [](double x) { return std::isfinite(x); }) || width <= 0.0 ||
      count < 0.0 || count > kMostTerms) {
    return kNoNumber;
  }
  double sum = 0.0;
  for (double i = 0.0; i < count; ++i) {
    sum += std::max(0.0, std::min(most, std::ceil((first + i * step) / width)));
  }
  return sum;
}

}  // namespace fatune
