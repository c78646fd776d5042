#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/device_limits.hpp"
#include "model/measure_policy.hpp"
#include "model/part_tail.hpp"
#include "model/problem.hpp"

namespace fatune {

/// Device memory for one kind of input on one problem; all in bytes.
struct StagePlan {
  /// The sizes of Q, K, V and O in turn, each rounded up to kTensorAlignmentBytes.
  std::array<std::int64_t, kTensorRoles.size()> tensor_bytes{};
  std::int64_t guard_bytes = 0;      ///< one guard band; they are before, between and after
  std::int64_t output_bytes = 0;     ///< the problem's outputs other than O, with guard bands
  std::int64_t reference_bytes = 0;  ///< reference rows, their row numbers, and row values

  /// The offset of a tensor, in bytes from the start of the first guard band.
  [[nodiscard]] std::int64_t tensor_offset(TensorRole role) const;
  [[nodiscard]] std::int64_t tensors_bytes() const {
    return tensor_offset(TensorRole::o) + tensor_bytes.back() + guard_bytes;
  }
  [[nodiscard]] std::int64_t total_bytes() const {
    return tensors_bytes() + output_bytes + reference_bytes;
  }
};

/// The number of sets of normal inputs that samples cycle through, so that remembering inputs does
/// not pay.
inline constexpr int kInputSets = 3;

/// The size of the flush buffer, in sizes of the L2. Caches do not replace strictly the oldest
/// line, so that reading as much as the L2 holds is not enough.
inline constexpr std::int64_t kL2SizesOfFlush = 4;

/// The device memory that measuring a problem takes, by purpose. Outputs and workspaces that a
/// family adds come on top.
struct MemoryPlan {
  StagePlan whole;                   ///< one set of normal inputs on the problem itself
  StagePlan part;                    ///< one set of normal inputs on its part; empty: there is none
  StagePlan probe;                   ///< one other kind of input on the probe problem
  StagePlan small;                   ///< one kind of input on small_problem()
  std::int64_t flush_bytes = 0;      ///< read before a cold sample: 4 times the L2; 0 without flush
  std::int64_t probe_stages = 0;     ///< other kinds of input on the probe problem
  std::int64_t small_stages = 0;     ///< and on small_problem()
  std::int64_t unrounded_bytes = 0;  ///< attention of unrounded inputs, where K and V have 8 bits

  [[nodiscard]] std::int64_t tensors_bytes() const;  ///< including the outputs other than O
  [[nodiscard]] std::int64_t reference_bytes() const;
  [[nodiscard]] std::int64_t total_bytes() const {
    return tensors_bytes() + reference_bytes() + flush_bytes;
  }
};

inline constexpr std::int64_t kTensorAlignmentBytes = 256;

/// Precondition: check_problem(problem) passes. Throws Error(too_large) when the figures overflow.
[[nodiscard]] StagePlan plan_stage(const Problem& problem);

/// `part`: the part of the problem on which races begin (part_of()). Precondition and
/// errors are those of plan_stage().
[[nodiscard]] MemoryPlan plan_memory(const Problem& problem, const MeasurePolicy& policy,
                                     const DeviceLimits& limits,
                                     const std::optional<Problem>& part = std::nullopt);

/// Throws Error(too_large), with the memory needed for each purpose and the free memory, unless the
/// plan fits `limits.free_memory_bytes` (less a reserve for modules and the driver). Allocates
/// nothing.
void check_fits(const Problem& problem, const MeasurePolicy& policy, const DeviceLimits& limits,
                const std::optional<Problem>& part = std::nullopt);

/// The part of the problem on which the early rounds of a race are cheap and still tell
/// configurations apart. It consists of the first batches, as a separate problem with the same
/// machine code: the fewest batches that take half a millisecond at the device's peak, fill the
/// device six times, and whose part_tail() spans at most 5 %. Empty if the whole takes less than
/// 1.5 ms at the peak, if the part would be more than half of the batches, if both together take
/// more than three quarters of the device's memory, or if a mask or lengths give blocks unequal
/// work. In the last case, how evenly a schedule spreads the work depends on the number of blocks.
[[nodiscard]] std::optional<Problem> part_of(const Problem& problem, const DeviceLimits& limits);

/// The tail of a kernel about which nothing is known. It covers kernels whose blocks keep 128, 192
/// or 256 rows (of 128 values) on an SM at a time, and a kernel that spreads the last wave evenly.
[[nodiscard]] PartTail part_tail(const Problem& part, const Problem& problem,
                                 const DeviceLimits& limits);

/// The tail of a kernel with these numbers of blocks on the part and on the problem. If they are
/// equal, each block computes many tiles, and the tail is `unknown`.
[[nodiscard]] PartTail part_tail(std::int64_t part_blocks, std::int64_t blocks,
                                 std::int64_t blocks_at_a_time, const PartTail& unknown);

/// The part's share of the problem's work. Precondition: `part` is part_of() the problem.
[[nodiscard]] inline double share_of(const Problem& part, const Problem& problem) {
  return static_cast<double>(part.batch) / static_cast<double>(problem.batch);
}

}  // namespace fatune
