#include "measure/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "attention/head_problem.hpp"
#include "attention/input_kind.hpp"
#include "attention/problem.hpp"
#include "attention/row_sample.hpp"
#include "core/error.hpp"
#include "measure/tensors.hpp"

namespace fatune {
namespace {

// The number of stages on the small problem: for the kinds of input that are about values or, if
// there is a part, for all of kProbeKinds.
std::int64_t small_stages(const StagePlan& part) {
  return part.total_bytes() > 0 ? std::ssize(kProbeKinds) : 2;
}

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// Kept free for modules, and for the local memory that the driver backs for kernels that spill.
constexpr std::int64_t kReserveBytes = 512 * kMiB;
// One fp32 and one 16-bit reference value.
constexpr std::int64_t kReferenceElementBytes = 4 + 2;

constexpr std::int64_t round_up(std::int64_t value, std::int64_t granule) {
  return (value + granule - 1) / granule * granule;
}

double as_gib(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * kMiB); }

// All products in this folder are small multiples of a tensor's bytes. If those are far below 2^63
// they cannot overflow, and no GPU's memory comes near that.
void check_no_overflow(const Problem& problem) {
  constexpr double kTooManyElements = 1e15;
  const auto rows = static_cast<double>(std::max(problem.seq_len, problem.seq_len_kv));
  const auto columns = static_cast<double>(std::max(problem.d_head, problem.d_head_v));
  const double elements =
      static_cast<double>(problem.batch) * rows * static_cast<double>(problem.heads) * columns;
  if (elements > kTooManyElements) {
    throw Error(ExitCode::too_large,
                fmt::format("{}: a tensor has {:.3g} elements", describe(problem), elements), {},
                "use a smaller batch, sequence length or number of heads");
  }
}

// The distance that the widest tile in use (256 rows) can run past a tensor's end, but at least 64
// KiB and at most 4 MiB.
std::int64_t guard_band_bytes(const Problem& problem) {
  const std::int64_t columns = std::max(problem.d_head, problem.d_head_v);
  const std::int64_t row_bytes = problem.heads * columns * element_bytes(problem.dtype);
  return round_up(std::clamp(kTilePositions * row_bytes, kMiB / 16, 4 * kMiB),
                  kTensorAlignmentBytes);
}

std::int64_t further_output_bytes(const Problem& problem) {
  return problem.lse ? output_memory_bytes(log_sum_exp_buffer(problem)) : 0;
}

}  // namespace

std::int64_t StagePlan::tensor_offset(TensorRole role) const {
  const auto* const end = tensor_bytes.begin() + static_cast<std::ptrdiff_t>(role);
  const auto before = static_cast<std::int64_t>(role);
  return std::accumulate(tensor_bytes.begin(), end, (before + 1) * guard_bytes);
}

std::int64_t StagePlan::tensors_bytes() const {
  return tensor_offset(TensorRole::o) + tensor_bytes.back() + guard_bytes;
}

std::int64_t MemoryPlan::tensors_bytes() const {
  const auto all = [](const StagePlan& stage) {
    return stage.tensors_bytes() + stage.output_bytes;
  };
  return kInputSets * (all(whole) + all(part)) + std::ssize(kProbeKinds) * all(probe) +
         small_stages(part) * all(small);
}

std::int64_t MemoryPlan::reference_bytes() const {
  return kInputSets * (whole.reference_bytes + part.reference_bytes) +
         std::ssize(kProbeKinds) * probe.reference_bytes +
         small_stages(part) * small.reference_bytes;
}

StagePlan plan_stage(const Problem& problem) {
  check_no_overflow(problem);
  const std::int64_t rows = sampled_rows_per_head(problem) * problem.batch * problem.heads;
  StagePlan plan;
  std::ranges::transform(kTensorRoles, plan.tensor_bytes.begin(), [&](TensorRole role) {
    return round_up(tensor_bytes(problem, role), kTensorAlignmentBytes);
  });
  plan.guard_bytes = guard_band_bytes(problem);
  plan.output_bytes = further_output_bytes(problem);
  plan.reference_bytes = rows * (problem.d_head_v * kReferenceElementBytes + 4) +
                         (problem.lse ? row_reference_bytes(problem) : 0);
  return plan;
}

MemoryPlan plan_memory(const Problem& problem, const MeasurePolicy& policy,
                       const DeviceLimits& limits, const std::optional<Problem>& part) {
  return {plan_stage(problem), part ? plan_stage(*part) : StagePlan{},
          plan_stage(probe_problem(problem)), plan_stage(small_problem(problem)),
          policy.flush_l2 ? 2 * limits.l2_bytes : 0};
}

void check_fits(const Problem& problem, const MeasurePolicy& policy, const DeviceLimits& limits,
                const std::optional<Problem>& part) {
  const MemoryPlan plan = plan_memory(problem, policy, limits, part);
  const std::int64_t usable = std::max<std::int64_t>(0, limits.free_memory_bytes - kReserveBytes);
  if (plan.total_bytes() <= usable) {
    return;
  }
  throw Error(
      ExitCode::too_large,
      fmt::format("{} needs {:.2f} GiB of GPU memory (tensors {:.2f}, for {} sets of inputs; "
                  "references {:.2f}, L2 flush {:.2f}), but {} has {:.2f} GiB free, {:.2f} of it "
                  "kept for the driver",
                  describe(problem), as_gib(plan.total_bytes()), as_gib(plan.tensors_bytes()),
                  kInputSets, as_gib(plan.reference_bytes()), as_gib(plan.flush_bytes), limits.name,
                  as_gib(limits.free_memory_bytes), as_gib(kReserveBytes)),
      {}, "use a smaller batch, sequence length or number of heads, or free memory on the GPU");
}

}  // namespace fatune
