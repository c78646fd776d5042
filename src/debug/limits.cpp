#include "debug/limits.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attention/cpu_reference.hpp"
#include "attention/error_rule.hpp"

namespace fatune {
namespace {

constexpr double kFp32Ulp = 0x1p-23;
// The error of scores whose sums are formed in another order, or truncated instead of rounded.
constexpr double kScoreUlps = 4.0;

std::vector<double> row_norms(const std::vector<std::uint16_t>& elements, const HeadProblem& head) {
  std::vector<double> norms;
  for (std::int64_t row = 0; row < head.seq_len; ++row) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < head.d_head; ++i) {
      const double x =
          element_value(elements[static_cast<std::size_t>(row * head.d_head + i)], head.dtype);
      sum += x * x;
    }
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

double greatest_magnitude(const std::vector<std::uint16_t>& elements, DType dtype) {
  double greatest = 0.0;
  for (const std::uint16_t bits : elements) {
    greatest = std::max(greatest, std::abs(element_value(bits, dtype)));
  }
  return greatest;
}

double greatest_in(const std::vector<double>& values, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(values.size());
  const auto begin = values.begin() + std::min(first, size);
  return *std::max_element(begin, values.begin() + std::min(first + count, size));
}

// Returns the greatest magnitude of the finite values in a window.
template <typename Value>
double greatest_of(const StepWindow& window, Value value) {
  double greatest = 0.0;
  for (std::int64_t row = 0; row < window.rows; ++row) {
    for (std::int64_t column = 0; column < window.columns; ++column) {
      const double x = std::abs(value(window.index(row, column)));
      greatest = std::isfinite(x) ? std::max(greatest, x) : greatest;
    }
  }
  return greatest;
}

}  // namespace

StepLimits::StepLimits(const HeadProblem& head, const HeadInputs& inputs, const StepValues& float64,
                       const StepValues& sixteen_bit)
    : head_(head),
      float64_(float64),
      sixteen_bit_(sixteen_bit),
      q_norms_(row_norms(inputs.q, head)),
      k_norms_(row_norms(inputs.k, head)),
      greatest_v_(greatest_magnitude(inputs.v, head.dtype)) {}

double StepLimits::emulated_error(StepTensor tensor, std::int64_t q_block,
                                  std::int64_t step) const {
  const std::vector<double>& exact = float64_.of(tensor);
  const std::vector<double>& emulated = sixteen_bit_.of(tensor);
  return greatest_of(step_window(head_, tensor, q_block, step),
                     [&](std::size_t i) { return emulated[i] - exact[i]; });
}

double StepLimits::greatest(StepTensor tensor, std::int64_t q_block, std::int64_t step) const {
  const std::vector<double>& exact = float64_.of(tensor);
  return greatest_of(step_window(head_, tensor, q_block, step),
                     [&](std::size_t i) { return exact[i]; });
}

// No partial sum of q k exceeds |q| |k|. The allowance is kScoreUlps units of fp32's last place of
// that bound.
double StepLimits::score_limit(std::int64_t q_block, std::int64_t step) const {
  const std::int64_t key = head_.tile_of(q_block, step) * head_.tiles.keys_per_step;
  const double partial_sum =
      greatest_in(q_norms_, q_block * head_.tiles.query_rows, head_.tiles.query_rows) *
      greatest_in(k_norms_, key, head_.tiles.keys_per_step);
  return twice_error(StepTensor::s, q_block, step) +
         kScoreUlps * kFp32Ulp * head_.scale_log2() * partial_sum;
}

// M is one of the scores so far, so their greatest limit applies.
double StepLimits::reference_limit(std::int64_t q_block, std::int64_t step) const {
  double limit = 0.0;
  for (std::int64_t seen = 0; seen <= step; ++seen) {
    limit = std::max(limit, score_limit(q_block, seen));
  }
  return limit;
}

// The relative error of 2^(S - M). S, M and the approximate instruction contribute to it.
double StepLimits::exponential_error(std::int64_t q_block, std::int64_t step) const {
  return 2 * std::numbers::ln2 * reference_limit(q_block, step) + 2 * kFp32Ulp;
}

// The relative error of a sum of exponentials that each step may have rescaled.
double StepLimits::sum_error(std::int64_t q_block, std::int64_t step) const {
  const auto steps = static_cast<double>(step + 1);
  const auto addends = steps * static_cast<double>(head_.tiles.keys_per_step);
  return (steps + 1) * exponential_error(q_block, step) + addends * kFp32Ulp / 2;
}

double StepLimits::limit(StepTensor tensor, std::int64_t q_block, std::int64_t step) const {
  const double emulated = emulated_error(tensor, q_block, step);
  switch (tensor) {
    case StepTensor::s:
      return score_limit(q_block, step);
    case StepTensor::m:
      return reference_limit(q_block, step);
    case StepTensor::p: {
      const double p = greatest(tensor, q_block, step);
      return error_limit(emulated, p, head_.dtype) + p * exponential_error(q_block, step);
    }
    case StepTensor::l:
      return 2 * emulated + greatest(tensor, q_block, step) * sum_error(q_block, step);
    case StepTensor::o:  // no sum of P V exceeds L max|V|
      return 2 * emulated +
             greatest(StepTensor::l, q_block, step) * greatest_v_ * sum_error(q_block, step);
    case StepTensor::output:
      break;
  }
  return error_limit(emulated, greatest(tensor, q_block, step), head_.dtype);
}

}  // namespace fatune
