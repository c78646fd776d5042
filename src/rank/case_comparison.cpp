#include "rank/case_comparison.hpp"

#include <algorithm>

#include "attention/flop.hpp"
#include "core/outcome.hpp"

namespace fatune {
namespace {

double time_us(const CaseResult& result) {
  return result.best ? ranked_us(result.best->outcome) : 0.0;
}

/// FLOP per microsecond; 0 without a time.
double rate(const CaseResult& result) {
  const double us = time_us(result);
  return us > 0.0 ? literature_flop(result.problem) / us : 0.0;
}

std::optional<double> ratio(double numerator, double denominator) {
  return numerator > 0.0 && denominator > 0.0 ? std::optional(numerator / denominator)
                                              : std::nullopt;
}

/// The first result that `same` accepts. Precondition: it accepts one.
template <typename Same>
const CaseResult& first_of(const std::vector<CaseResult>& results, const Same& same) {
  return *std::ranges::find_if(results, same);
}

}  // namespace

void compare_cases(std::vector<CaseResult>& results) {
  for (CaseResult& result : results) {
    const CaseResult& other =
        first_of(results, [&](const CaseResult& first) { return first.problem == result.problem; });
    const CaseResult& shorter =
        first_of(results, [&](const CaseResult& first) { return first.variant == result.variant; });
    result.speed_up = ratio(time_us(other), time_us(result));
    result.scaling = ratio(rate(result), rate(shorter));
  }
}

}  // namespace fatune
