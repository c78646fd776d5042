#pragma once

#include <cstdint>
#include <optional>

#include "model/device_limits.hpp"
#include "model/emulation.hpp"
#include "model/outcome.hpp"
#include "runtime/time_model.hpp"

namespace fatune {

using fatune_attention::detail::TimeModel;

/// The work of one launch for the whole problem, from the family's expressions, from counts, and
/// from the artifact's facts.
struct KernelWork {
  double tensor_flop = 0.0;     ///< done by tensor cores, masked-out work included
  double warpgroup_flop = 0.0;  ///< the part of tensor_flop that wgmma does; mma.sync does the rest
  double fp32_flop = 0.0;       ///< done by multiply-adds of fp32
  double exponentials = 0.0;    ///< ex2 instructions, per thread-level operation
  double smem_traffic_bytes = 0.0;   ///< bank conflicts included: replayed bytes count again
  double device_memory_bytes = 0.0;  ///< least traffic: Q, K, V read once, O written once
  double spill_bytes = 0.0;          ///< loads and stores of spilled registers by all threads
  std::int64_t blocks = 0;           ///< blocks that share the work; for persistent ones, the tiles
  int threads_per_block = 0;
  int blocks_per_sm = 0;  ///< resident at a time; 0: cannot launch
  /// The counts of emulation. They replace tensor_flop, warpgroup_flop, exponentials and
  /// smem_traffic_bytes.
  std::optional<CountedWork> counted = std::nullopt;
};

/// Estimates the time of a kernel that nothing has run. The formula and its weaknesses are in
/// docs/estimate.md. In short, with t_i the time that each pipe alone would need on all SMs:
///
///   busy = max(t_i) + (sum(t_i) - max(t_i)) / warps per scheduler
///   estimate = busy * ceil(blocks / SMs) * SMs / blocks     (the busiest SM finishes last)
///
/// Terms returned: "tensor", "exponent", "shared_memory", "device_memory", "spill" (each pipe
/// alone; "fp32" too if fp32_flop is not 0), then "exposed" and "occupancy": what the second part
/// of each formula adds. Counts add the pipes "fp32", "integer" and "global_memory", and "issue":
/// the time in which the schedulers alone would issue all instructions. It is a lower limit of the
/// first part of busy. The largest pipe (or issue), "exposed" and "occupancy" sum to the estimate.
/// All fields of `work` must be finite and not negative, blocks, blocks_per_sm and all rates
/// positive, and `limits` must have SMs and a clock: anything else is a std::invalid_argument (a
/// bug). Without a rate of wgmma, that of mma.sync is used.
[[nodiscard]] Estimated estimate(const KernelWork& work, const DeviceLimits& limits,
                                 const SmRates& rates);

/// The estimate for work that takes `factor` times as long.
[[nodiscard]] Estimated scaled(Estimated estimated, double factor);

/// Estimates the time of the SM that finishes last. Terms returned, which sum to the estimate:
/// "steps" and "tiles" of that SM, "launch", and "memory_wait": how much longer device memory needs
/// for the least traffic.
[[nodiscard]] Estimated estimate(const TimeModel& model, double device_memory_bytes,
                                 const DeviceLimits& limits);

}  // namespace fatune
