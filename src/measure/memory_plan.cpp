#include "measure/memory_plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "measure/plausibility.hpp"
#include "measure/tensors.hpp"
#include "measure/unrounded_reference.hpp"
#include "model/head_problem.hpp"
#include "model/input_kind.hpp"
#include "model/row_sample.hpp"

namespace fatune {
namespace {

// On the probe problem and, if there is a part, on the small problem.
std::int64_t unrounded_bytes_of(const Problem& problem, bool has_part) {
  return unrounded_reference_bytes(probe_problem(problem)) +
         (has_part ? unrounded_reference_bytes(small_problem(problem)) : 0);
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
  const std::int64_t row_bytes = problem.heads * columns * element_bytes(output_dtype(problem));
  return round_up(std::clamp(kTilePositions * row_bytes, kMiB / 16, 4 * kMiB),
                  kTensorAlignmentBytes);
}

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

std::int64_t StagePlan::tensor_offset(TensorRole role) const {
  const auto* const end = tensor_bytes.begin() + static_cast<std::ptrdiff_t>(role);
  const auto before = static_cast<std::int64_t>(role);
  return std::accumulate(tensor_bytes.begin(), end, (before + 1) * guard_bytes);
}

std::int64_t MemoryPlan::tensors_bytes() const {
  const auto all = [](const StagePlan& stage) {
    return stage.tensors_bytes() + stage.output_bytes;
  };
  return kInputSets * (all(whole) + all(part)) + probe_stages * all(probe) +
         small_stages * all(small);
}

std::int64_t MemoryPlan::reference_bytes() const {
  return kInputSets * (whole.reference_bytes + part.reference_bytes) +
         probe_stages * probe.reference_bytes + small_stages * small.reference_bytes +
         unrounded_bytes;
}

StagePlan plan_stage(const Problem& problem) {
  check_no_overflow(problem);
  const std::int64_t rows = sampled_rows_per_head(problem) * output_heads(problem);
  StagePlan plan;
  std::ranges::transform(kTensorRoles, plan.tensor_bytes.begin(), [&](TensorRole role) {
    return round_up(tensor_bytes(problem, role), kTensorAlignmentBytes);
  });
  plan.guard_bytes = guard_band_bytes(problem);
  plan.output_bytes = problem.lse ? output_memory_bytes(log_sum_exp_buffer(problem)) : 0;
  plan.reference_bytes = rows * (problem.d_head_v * kReferenceElementBytes + 4) +
                         (problem.lse ? row_reference_bytes(problem) : 0);
  return plan;
}

MemoryPlan plan_memory(const Problem& problem, const MeasurePolicy& policy,
                       const DeviceLimits& limits, const std::optional<Problem>& part) {
  const std::int64_t kinds = std::ssize(probe_kinds(problem));
  return {plan_stage(problem),
          part ? plan_stage(*part) : StagePlan{},
          plan_stage(probe_problem(problem)),
          plan_stage(small_problem(problem)),
          policy.flush_l2 ? kL2SizesOfFlush * limits.l2_bytes : 0,
          kinds,
          part ? kinds : std::ssize(kValueKinds),
          has_scales(problem) ? unrounded_bytes_of(problem, part.has_value()) : 0};
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

std::optional<Problem> part_of(const Problem& problem, const DeviceLimits& limits) {
  const bool has_unequal_blocks =
      problem.causal || problem.window > 0 || !problem.seq_lens_kv.empty() || is_packed(problem);
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

}  // namespace fatune
