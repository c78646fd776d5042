#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/measure_policy.hpp"

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
  [[nodiscard]] std::int64_t tensors_bytes() const;
  [[nodiscard]] std::int64_t total_bytes() const {
    return tensors_bytes() + output_bytes + reference_bytes;
  }
};

/// The number of sets of normal inputs that samples cycle through, so that remembering inputs does
/// not pay.
inline constexpr int kInputSets = 3;

/// The device memory that measuring a problem takes, by purpose. Outputs and workspaces that a
/// family adds come on top.
struct MemoryPlan {
  StagePlan whole;               ///< one set of normal inputs on the problem itself
  StagePlan part;                ///< one set of normal inputs on its part; empty: there is none
  StagePlan probe;               ///< one other kind of input on the probe problem
  StagePlan small;               ///< one kind of input on small_problem()
  std::int64_t flush_bytes = 0;  ///< written before a cold sample: twice the L2; 0 without flush

  [[nodiscard]] std::int64_t tensors_bytes() const;  ///< including the outputs other than O
  [[nodiscard]] std::int64_t reference_bytes() const;
  [[nodiscard]] std::int64_t total_bytes() const {
    return tensors_bytes() + reference_bytes() + flush_bytes;
  }
};

inline constexpr std::int64_t kTensorAlignmentBytes = 256;

/// Precondition: check_problem(problem) passes. Throws Error(too_large) when the figures overflow.
[[nodiscard]] StagePlan plan_stage(const Problem& problem);

/// `part`: the part of the problem on which races begin (part_of_problem.hpp). Precondition and
/// errors are those of plan_stage().
[[nodiscard]] MemoryPlan plan_memory(const Problem& problem, const MeasurePolicy& policy,
                                     const DeviceLimits& limits,
                                     const std::optional<Problem>& part = std::nullopt);

/// Throws Error(too_large), with the memory needed for each purpose and the free memory, unless the
/// plan fits `limits.free_memory_bytes` (less a reserve for modules and the driver). Allocates
/// nothing.
void check_fits(const Problem& problem, const MeasurePolicy& policy, const DeviceLimits& limits,
                const std::optional<Problem>& part = std::nullopt);

}  // namespace fatune
