#include "measure/plausibility.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/flop.hpp"

namespace fatune {
namespace {

double bytes_through_memory(const Problem& problem, std::int64_t l2_bytes, bool flushed) {
  const std::int64_t inputs = needed_input_bytes(problem);
  const std::int64_t output = needed_output_bytes(problem);
  const std::int64_t bytes = flushed ? inputs + std::max<std::int64_t>(0, output - l2_bytes)
                                     : std::max<std::int64_t>(0, inputs + output - l2_bytes);
  return static_cast<double>(bytes);
}

LeastTime time_of_flop(const Problem& problem, const DeviceLimits& limits) {
  const double rate = product_rate(problem);
  const double flop_per_us = rate * peak_tensor_flop_per_us(limits);
  if (!(flop_per_us > 0.0)) {
    return {};
  }
  const double flop = needed_flop(problem);
  return {flop / flop_per_us,
          fmt::format("it needs {:.4g} GFLOP, and {} SMs at {:.0f} MHz and {:.0f} FLOP per SM and "
                      "clock do {:.0f} TFLOP/s",
                      flop / 1e9, limits.sm_count, limits.clock_khz / 1e3,
                      rate * peak_tensor_flop_per_clock(limits.arch), flop_per_us / 1e6)};
}

LeastTime time_of_bytes(const Problem& problem, const DeviceLimits& limits, bool flushed) {
  if (!(limits.memory_gbps > 0.0)) {
    return {};
  }
  constexpr double kBytesPerMiB = 1048576.0;
  const double bytes = bytes_through_memory(problem, limits.l2_bytes, flushed);
  return {bytes / (limits.memory_gbps * 1e3),
          fmt::format("{:.4g} MiB of its tensors go through a memory of {:.0f} GB/s",
                      bytes / kBytesPerMiB, limits.memory_gbps)};
}

// Fewer later times tell nothing.
constexpr std::size_t kLeastLater = 3;

}  // namespace

LeastTime least_time(const Problem& problem, const DeviceLimits& limits, bool flushed) {
  const LeastTime flop = time_of_flop(problem, limits);
  const LeastTime bytes = time_of_bytes(problem, limits, flushed);
  return flop.us >= bytes.us ? flop : bytes;
}

bool follows_clock(const Problem& problem, const DeviceLimits& limits, bool flushed) {
  const double flop_us = time_of_flop(problem, limits).us;
  return flop_us >= kLeastClockedUs && flop_us >= time_of_bytes(problem, limits, flushed).us;
}

std::optional<Implausible> find_implausible(double sample_us, const LeastTime& least) {
  if (!is_kernel_time(sample_us)) {
    return Implausible{sample_us, least.us, not_a_kernel_time(sample_us)};
  }
  if (sample_us >= least.us) {
    return std::nullopt;
  }
  return Implausible{
      sample_us, least.us,
      fmt::format("the problem takes at least {:.3g} us: {}", least.us, least.arithmetic)};
}

void FirstSights::add(int set, double us) {
  std::optional<double>& first = first_us_.at(static_cast<std::size_t>(set));
  if (first) {
    later_us_.push_back(us);
  } else {
    first = us;
  }
}

bool FirstSights::suspicious() const {
  const bool all_seen =
      std::ranges::all_of(first_us_, [](const auto& first) { return first.has_value(); });
  if (cleared_ || !all_seen || later_us_.size() < kLeastLater) {
    return false;
  }
  std::vector<double> later = later_us_;
  const auto middle = later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2);
  std::nth_element(later.begin(), middle, later.end());
  return **std::ranges::min_element(first_us_) > kRememberingRatio * *middle;
}

}  // namespace fatune
