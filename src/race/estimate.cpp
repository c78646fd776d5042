#include "race/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace fatune {
namespace {

constexpr double kSectorBytes = 32.0;

bool usable(double value) { return std::isfinite(value) && value >= 0.0; }

bool usable(const CountedWork& work) {
  return usable(work.tensor_flop) && usable(work.warpgroup_flop) &&
         usable(work.special_functions) && usable(work.fp32_operations) &&
         usable(work.integer_operations) && usable(work.warp_instructions) &&
         usable(work.smem_traffic_bytes) && usable(work.global_sectors);
}

bool usable(const SmRates& rates) {
  bool all_usable = true;
  visit_members(rates, [&](const MemberInfo&, const std::optional<double>& rate) {
    all_usable = all_usable && (!rate || (std::isfinite(*rate) && *rate > 0.0));
  });
  return all_usable;
}

void check(const KernelWork& work, const DeviceLimits& limits, const SmRates& rates) {
  const bool work_usable = usable(work.tensor_flop) && usable(work.warpgroup_flop) &&
                           usable(work.fp32_flop) && work.warpgroup_flop <= work.tensor_flop &&
                           usable(work.exponentials) && usable(work.smem_traffic_bytes) &&
                           usable(work.device_memory_bytes) && usable(work.spill_bytes) &&
                           work.blocks > 0 && work.threads_per_block > 0 &&
                           work.blocks_per_sm > 0 && (!work.counted || usable(*work.counted));
  if (!work_usable || limits.sm_count < 1 || limits.clock_khz < 1 || !usable(rates)) {
    throw std::invalid_argument("estimate: work, device limits or rates are invalid");
  }
}

double memory_us(double bytes, double memory_gbps) {
  return memory_gbps > 0.0 ? bytes / (memory_gbps * 1e3) : 0.0;
}

/// Times in microseconds, with the work spread evenly over all SMs.
class Times {
 public:
  Times(const KernelWork& work, const DeviceLimits& limits, const SmRates& rates)
      : work_(work),
        limits_(limits),
        rates_(rates),
        sm_clocks_per_us_(limits.sm_count * (limits.clock_khz / 1e3)) {}

  /// The time that each pipe alone would need.
  [[nodiscard]] std::vector<EstimateTerm> pipes() const {
    std::vector<EstimateTerm> terms = work_.counted ? counted(*work_.counted) : declared();
    terms.push_back({"device_memory", memory_us(work_.device_memory_bytes, limits_.memory_gbps)});
    terms.push_back({"spill", at_rate(work_.spill_bytes, rates_.l1_bytes)});
    return terms;
  }
  /// The time that the schedulers alone would need; nothing when it is not known.
  [[nodiscard]] std::optional<EstimateTerm> issue() const {
    if (!work_.counted) {
      return std::nullopt;
    }
    return EstimateTerm{"issue",
                        at_rate(work_.counted->warp_instructions, rates_.issued_warp_instructions)};
  }

 private:
  /// `rate`: per SM and clock.
  [[nodiscard]] double at_rate(double amount, double rate) const {
    return amount / (rate * sm_clocks_per_us_);
  }
  [[nodiscard]] double tensor_us(double mma_sync_flop, double wgmma_flop) const {
    return at_rate(mma_sync_flop, rates_.mma_sync_flop) +
           at_rate(wgmma_flop, rates_.wgmma_flop.value_or(rates_.mma_sync_flop));
  }
  [[nodiscard]] std::vector<EstimateTerm> declared() const {
    constexpr double kFlopOfMultiplyAdd = 2.0;
    std::vector<EstimateTerm> terms{
        {"tensor", tensor_us(work_.tensor_flop - work_.warpgroup_flop, work_.warpgroup_flop)},
        {"exponent", at_rate(work_.exponentials, rates_.exponentials)},
        {"shared_memory", at_rate(work_.smem_traffic_bytes, rates_.smem_bytes)}};
    if (work_.fp32_flop > 0.0) {
      terms.push_back(
          {"fp32", at_rate(work_.fp32_flop / kFlopOfMultiplyAdd, rates_.fp32_operations)});
    }
    return terms;
  }
  [[nodiscard]] std::vector<EstimateTerm> counted(const CountedWork& work) const {
    return {{"tensor", tensor_us(work.tensor_flop, work.warpgroup_flop)},
            {"exponent", at_rate(work.special_functions, rates_.exponentials)},
            {"fp32", at_rate(work.fp32_operations, rates_.fp32_operations)},
            {"integer", at_rate(work.integer_operations, rates_.integer_operations)},
            {"shared_memory", at_rate(work.smem_traffic_bytes, rates_.smem_bytes)},
            {"global_memory", at_rate(work.global_sectors * kSectorBytes, rates_.l1_bytes)}};
  }

  const KernelWork& work_;
  const DeviceLimits& limits_;
  const SmRates& rates_;
  double sm_clocks_per_us_;
};

std::int64_t blocks_of_busiest_sm(const KernelWork& work, const DeviceLimits& limits) {
  return (work.blocks + limits.sm_count - 1) / limits.sm_count;
}

/// The resident warps of a scheduler that hide each other's work. More than two do not hide more of
/// it, because warps of one kernel come to the same places together (docs/estimate.md).
double overlapping_warps(const KernelWork& work, const DeviceLimits& limits) {
  constexpr double kThreadsOfAllSchedulers = 4 * 32;
  constexpr double kMost = 2.0;
  const auto resident =
      std::min<std::int64_t>(work.blocks_per_sm, blocks_of_busiest_sm(work, limits));
  const double threads = static_cast<double>(resident) * work.threads_per_block;
  return std::clamp(threads / kThreadsOfAllSchedulers, 1.0, kMost);
}

}  // namespace

Estimated estimate(const KernelWork& work, const DeviceLimits& limits, const SmRates& rates) {
  check(work, limits, rates);
  const Times times(work, limits, rates);
  Estimated result;
  result.from = work.counted ? EstimateSource::emulation : EstimateSource::family;
  result.terms = times.pipes();
  double greatest_us = 0.0;
  double sum_us = 0.0;
  for (const EstimateTerm& term : result.terms) {
    greatest_us = std::max(greatest_us, term.us);
    sum_us += term.us;
  }
  const double exposed_us = (sum_us - greatest_us) / overlapping_warps(work, limits);
  if (const auto issue = times.issue()) {
    greatest_us = std::max(greatest_us, issue->us);
    result.terms.push_back(*issue);
  }
  const double busy_us = greatest_us + exposed_us;
  const double imbalance = static_cast<double>(blocks_of_busiest_sm(work, limits)) *
                           limits.sm_count / static_cast<double>(work.blocks);
  result.estimate_us = busy_us * imbalance;
  result.terms.push_back({"exposed", exposed_us});
  result.terms.push_back({"occupancy", result.estimate_us - busy_us});
  return result;
}

Estimated scaled(Estimated estimated, double factor) {
  estimated.estimate_us *= factor;
  for (EstimateTerm& term : estimated.terms) {
    term.us *= factor;
  }
  return estimated;
}

Estimated estimate(const TimeModel& model, double device_memory_bytes, const DeviceLimits& limits) {
  const double clocks_per_us = limits.clock_khz / 1e3;
  const auto shares =
      fatune_attention::detail::tile_shares(model.schedule, model.tile_clocks, model.step_clocks);
  Estimated result;
  result.from = EstimateSource::calibration;
  result.terms = {{"steps", shares.last().steps * model.step_clocks / clocks_per_us},
                  {"tiles", shares.last().tiles * model.tile_clocks / clocks_per_us},
                  {"launch", model.launch_clocks / clocks_per_us}};
  for (const EstimateTerm& term : result.terms) {
    result.estimate_us += term.us;
  }
  const double without_wait_us = result.estimate_us;
  result.estimate_us =
      std::max(fatune_attention::detail::model_time(model, shares).clocks / clocks_per_us,
               memory_us(device_memory_bytes, limits.memory_gbps));
  result.terms.push_back({"memory_wait", result.estimate_us - without_wait_us});
  return result;
}

}  // namespace fatune
