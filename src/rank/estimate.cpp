#include "rank/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace fatune {
namespace {

/// What one SM does per clock.
struct SmRates {
  double tensor_flop;  ///< dense 16-bit mma.sync, fp32 accumulation
  double exponentials;
  double smem_bytes;
  double spill_bytes;
};

/// Tensor rates: NVIDIA's peak figures divided by SMs and clock. For sm_90 and newer, mma.sync: it
/// reaches about 5/8 of the 4096 that only wgmma gets. Exponentials: CUDA programming guide,
/// "Arithmetic Instructions". Spills go through L1 and, on stores, L2: half of shared memory's.
SmRates rates_of(Arch arch) {
  constexpr double kExponentials = 16.0;
  constexpr double kSmemBytes = 128.0;
  constexpr double kSpillBytes = 64.0;
  const auto with_tensor = [&](double tensor_flop) {
    return SmRates{tensor_flop, kExponentials, kSmemBytes, kSpillBytes};
  };
  if (arch.sm >= 90) {
    return with_tensor(2560.0);
  }
  return with_tensor(arch.sm == 80 ? 2048.0 : 1024.0);
}

bool usable(double value) { return std::isfinite(value) && value >= 0.0; }

void check(const KernelWork& work, const DeviceLimits& limits) {
  const bool work_usable = usable(work.tensor_flop) && usable(work.exponentials) &&
                           usable(work.smem_traffic_bytes) && usable(work.device_memory_bytes) &&
                           usable(work.spill_bytes) && work.blocks > 0 &&
                           work.threads_per_block > 0 && work.blocks_per_sm > 0;
  if (!work_usable || limits.sm_count < 1 || limits.clock_khz < 1) {
    throw std::invalid_argument("estimate: work or device limits make no sense");
  }
}

double memory_us(double bytes, double memory_gbps) {
  return memory_gbps > 0.0 ? bytes / (memory_gbps * 1e3) : 0.0;
}

/// Time that each pipe alone would need, with the work spread evenly over all SMs.
std::vector<EstimateTerm> pipe_terms(const KernelWork& work, const DeviceLimits& limits) {
  const SmRates rates = rates_of(limits.arch);
  const double sm_clocks_per_us = limits.sm_count * (limits.clock_khz / 1e3);
  return {{"tensor", work.tensor_flop / (rates.tensor_flop * sm_clocks_per_us)},
          {"exponent", work.exponentials / (rates.exponentials * sm_clocks_per_us)},
          {"shared_memory", work.smem_traffic_bytes / (rates.smem_bytes * sm_clocks_per_us)},
          {"device_memory", memory_us(work.device_memory_bytes, limits.memory_gbps)},
          {"spill", work.spill_bytes / (rates.spill_bytes * sm_clocks_per_us)}};
}

std::int64_t blocks_of_busiest_sm(const KernelWork& work, const DeviceLimits& limits) {
  return (work.blocks + limits.sm_count - 1) / limits.sm_count;
}

double warps_per_scheduler(const KernelWork& work, const DeviceLimits& limits) {
  constexpr double kThreadsOfAllSchedulers = 4 * 32;
  const auto resident =
      std::min<std::int64_t>(work.blocks_per_sm, blocks_of_busiest_sm(work, limits));
  const double threads = static_cast<double>(resident) * work.threads_per_block;
  return std::max(1.0, threads / kThreadsOfAllSchedulers);
}

}  // namespace

Estimated estimate(const KernelWork& work, const DeviceLimits& limits) {
  check(work, limits);
  Estimated result;
  result.terms = pipe_terms(work, limits);
  double greatest_us = 0.0;
  double sum_us = 0.0;
  for (const EstimateTerm& term : result.terms) {
    greatest_us = std::max(greatest_us, term.us);
    sum_us += term.us;
  }
  const double exposed_us = (sum_us - greatest_us) / warps_per_scheduler(work, limits);
  const double busy_us = greatest_us + exposed_us;
  const double imbalance = static_cast<double>(blocks_of_busiest_sm(work, limits)) *
                           limits.sm_count / static_cast<double>(work.blocks);
  result.estimate_us = busy_us * imbalance;
  result.terms.push_back({"exposed", exposed_us});
  result.terms.push_back({"occupancy", result.estimate_us - busy_us});
  return result;
}

}  // namespace fatune
