#include "measure/part_of_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/measure_policy.hpp"
#include "measure/memory_plan.hpp"
#include "measure/plausibility.hpp"

namespace fatune {
namespace {

constexpr double kLeastWholeUs = 1500.0;
constexpr double kLeastPartUs = 500.0;
constexpr double kLeastWaves = 6.0;
constexpr double kMostTailDifference = 0.05;
/// The rows that an SM has at a time, over the number of rows whose sums fill half of its
/// registers.
constexpr std::array<double, 3> kFillings{0.5, 0.75, 1.0};

double least_us(const Problem& problem, const DeviceLimits& limits) {
  return least_time(problem, limits, MeasurePolicy{}.flush_l2).us;
}

/// The number of times that the problem fills the device with blocks, which have 64 rows or more.
double waves(const Problem& problem, const DeviceLimits& limits, double filling) {
  constexpr std::int64_t kFewestRows = 64;
  const std::int64_t rows = (problem.seq_len + kFewestRows - 1) / kFewestRows * kFewestRows;
  const double rows_at_a_time = filling * limits.sm_count * limits.registers_per_sm /
                                (2.0 * static_cast<double>(problem.d_head_v));
  return static_cast<double>(problem.batch * problem.heads * rows) / rows_at_a_time;
}

/// The fraction by which a last wave that is not full lengthens all of them.
double tail(double waves) { return std::ceil(waves) / waves - 1.0; }

bool is_like(const Problem& part, const Problem& whole, const DeviceLimits& limits) {
  const PartTail tails = part_tail(part, whole, limits);
  return waves(part, limits, 1.0) >= kLeastWaves && least_us(part, limits) >= kLeastPartUs &&
         tails.most - tails.least <= kMostTailDifference;
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

PartTail part_tail(const Problem& part, const Problem& problem, const DeviceLimits& limits) {
  PartTail tails;
  for (const double filling : kFillings) {
    const double one = tail(waves(part, limits, filling)) - tail(waves(problem, limits, filling));
    tails = {std::min(tails.least, one), std::max(tails.most, one)};
  }
  return tails;
}

// Blocks do not all end at once, so a last wave adds at most this much, and perhaps less.
PartTail part_tail(std::int64_t part_blocks, std::int64_t blocks, std::int64_t blocks_at_a_time,
                   const PartTail& unknown) {
  if (part_blocks == blocks || blocks_at_a_time <= 0) {
    return unknown;
  }
  const auto of = [&](std::int64_t count) {
    return tail(static_cast<double>(count) / static_cast<double>(blocks_at_a_time));
  };
  const double most = of(part_blocks) - of(blocks);
  return {std::min(0.0, most), std::max(0.0, most)};
}

double share_of(const Problem& part, const Problem& problem) {
  return static_cast<double>(part.batch) / static_cast<double>(problem.batch);
}

}  // namespace fatune
