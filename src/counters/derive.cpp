#include "counters/derive.hpp"

#include <cmath>

namespace fatune {
namespace {

std::optional<double> sum_of(const std::vector<std::string>& metrics, const RawCounters& raw) {
  double sum = 0.0;
  for (const std::string& metric : metrics) {
    const auto value = raw.find(metric);
    if (value == raw.end()) {
      return std::nullopt;
    }
    sum += value->second;
  }
  return sum;
}

}  // namespace

std::optional<double> derive(const CounterField& field, const RawCounters& raw) {
  const std::optional<double> numerator = sum_of(field.numerator, raw);
  const std::optional<double> denominator =
      field.denominator.empty() ? 1.0 : sum_of(field.denominator, raw);
  if (!numerator || !denominator) {
    return std::nullopt;
  }
  const double value = field.scale * *numerator / *denominator;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::pair<std::string, double>> derive_averages(std::span<const CounterField> fields,
                                                            std::span<const RawCounters> runs) {
  std::vector<std::pair<std::string, double>> averages;
  for (const CounterField& field : fields) {
    double sum = 0.0;
    int count = 0;
    for (const RawCounters& run : runs) {
      if (const auto value = derive(field, run)) {
        sum += *value;
        ++count;
      }
    }
    if (count > 0) {
      averages.emplace_back(field.name, sum / count);
    }
  }
  return averages;
}

}  // namespace fatune
