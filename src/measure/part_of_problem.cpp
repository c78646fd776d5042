#include "measure/part_of_problem.hpp"

#include <cmath>

#include "core/measure_policy.hpp"
#include "measure/memory_plan.hpp"
#include "measure/plausibility.hpp"

namespace fatune {
namespace {

constexpr double kLeastWholeUs = 1500.0;
constexpr double kLeastPartUs = 500.0;
constexpr double kLeastWaves = 6.0;
constexpr double kMostTailDifference = 0.04;

double least_us(const Problem& problem, const DeviceLimits& limits) {
  return least_time(problem, limits, MeasurePolicy{}.flush_l2).us;
}

/// How often the device is filled with blocks: of 64 rows or more, and as many at a time as have
/// their sums in half of the registers.
double waves(const Problem& problem, const DeviceLimits& limits) {
  constexpr std::int64_t kFewestRows = 64;
  const std::int64_t rows = (problem.seq_len + kFewestRows - 1) / kFewestRows * kFewestRows;
  const double rows_at_a_time =
      limits.sm_count * limits.registers_per_sm / (2.0 * static_cast<double>(problem.d_head_v));
  return static_cast<double>(problem.batch * problem.heads * rows) / rows_at_a_time;
}

/// By how much a last wave that is not full lengthens all of them.
double tail(double waves) { return std::ceil(waves) / waves - 1.0; }

bool is_like(const Problem& part, const Problem& whole, const DeviceLimits& limits) {
  const double of_part = waves(part, limits);
  return of_part >= kLeastWaves && least_us(part, limits) >= kLeastPartUs &&
         std::abs(tail(of_part) - tail(waves(whole, limits))) <= kMostTailDifference;
}

bool fit_together(const Problem& part, const Problem& whole, const DeviceLimits& limits) {
  const double bytes = static_cast<double>(plan_memory(whole, {}, limits, part).total_bytes());
  return bytes <= 0.75 * static_cast<double>(limits.total_memory_bytes);
}

}  // namespace

std::optional<Problem> part_of(const Problem& problem, const DeviceLimits& limits) {
  const bool has_unequal_blocks = problem.causal || problem.window > 0;
  if (has_unequal_blocks || least_us(problem, limits) < kLeastWholeUs) {
    return std::nullopt;
  }
  Problem part = problem;
  for (part.batch = 1; 2 * part.batch <= problem.batch; ++part.batch) {
    if (is_like(part, problem, limits)) {
      return fit_together(part, problem, limits) ? std::optional(part) : std::nullopt;
    }
  }
  return std::nullopt;
}

double share_of(const Problem& part, const Problem& problem) {
  return static_cast<double>(part.batch) / static_cast<double>(problem.batch);
}

}  // namespace fatune
