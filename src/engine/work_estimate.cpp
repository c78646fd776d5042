#include "engine/work_estimate.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "attention/flop.hpp"
#include "attention/problem.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "plan/estimate_rule.hpp"
#include "plan/planner.hpp"
#include "rank/estimate.hpp"

namespace fatune {
namespace {

/// Counts the work of one result.
class WorkCount {
 public:
  WorkCount(const Family& family, const Problem& problem, const DeviceLimits& limits)
      : family_(family), problem_(problem), limits_(limits) {}

  [[nodiscard]] KernelWork of(const Result& result, const LaunchGeometry& geometry,
                              const KnownCode& code) const {
    const auto heads = static_cast<double>(problem_.batch * problem_.heads);
    KernelWork work;
    work.blocks = block_count(geometry);
    work.threads_per_block = result.threads_per_block;
    work.blocks_per_sm = result.blocks_per_sm;
    const std::optional<double> tensor_flop = quantity(result.config, "tensor_flop");
    if (tensor_flop || code.uses_tensor_cores) {
      work.tensor_flop = tensor_flop.value_or(literature_flop(problem_));
    } else {
      work.fp32_flop = literature_flop(problem_);
    }
    work.warpgroup_flop =
        std::min(work.tensor_flop, quantity_or(result.config, "warpgroup_flop", 0.0));
    work.exponentials = quantity_or(result.config, "exponentials", heads * visible_pairs(problem_));
    work.smem_traffic_bytes = quantity_or(result.config, "smem_traffic_bytes", 0.0);
    work.device_memory_bytes = device_memory_bytes();
    work.spill_bytes = spill_bytes(result, heads, static_cast<double>(work.blocks));
    work.counted = code.counted;
    return work;
  }
  [[nodiscard]] ModelledWork of(TimeModel model) const {
    return {model.launch_clocks, model.tile_clocks, model.step_clocks, std::move(model.schedule),
            device_memory_bytes()};
  }
  /// Whether nothing but the problem tells how much the configuration computes.
  [[nodiscard]] bool knows_problem_alone(const Config& config, const KnownCode& code) const {
    return !code.counted && !quantity(config, "tensor_flop");
  }

 private:
  [[nodiscard]] std::optional<double> quantity(const Config& config, const char* name) const {
    return find_quantity(family_, config, problem_, limits_, name);
  }
  [[nodiscard]] double quantity_or(const Config& config, const char* name, double otherwise) const {
    return quantity(config, name).value_or(otherwise);
  }

  /// Q, K and V read once, O written once.
  [[nodiscard]] double device_memory_bytes() const {
    double bytes = 0.0;
    for (const TensorRole role : kTensorRoles) {
      bytes += static_cast<double>(tensor_bytes(problem_, role));
    }
    return bytes;
  }

  [[nodiscard]] double spill_bytes(const Result& result, double heads, double blocks) const {
    const double kv_steps = heads * quantity_or(result.config, "kv_steps", blocks / heads);
    const ResourceFacts facts = result.facts.value_or(ResourceFacts{});
    const auto bytes = static_cast<double>(facts.spill_load_bytes + facts.spill_store_bytes);
    return bytes * result.threads_per_block * kv_steps;
  }

  const Family& family_;
  const Problem& problem_;
  const DeviceLimits& limits_;
};

/// The launch on a device of `sm_count` SMs. Empty: the family's expressions do not allow for so
/// many, or for the problem.
std::optional<LaunchGeometry> launch_on(const Family& family, const Config& config,
                                        const Problem& problem, DeviceLimits limits, int sm_count) {
  limits.sm_count = sm_count;
  try {
    return launch_geometry(family, config, problem, limits);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The launch on a device that has room for all blocks at once; nothing if there is none.
std::optional<LaunchGeometry> unlimited_launch(const Family& family, const Config& config,
                                               const Problem& problem, const DeviceLimits& limits) {
  constexpr int kManySms = 1 << 22;
  auto launch = launch_on(family, config, problem, limits, kManySms);
  const auto on_more = launch_on(family, config, problem, limits, 2 * kManySms);
  return launch && on_more && launch->grid == on_more->grid ? std::move(launch) : std::nullopt;
}

}  // namespace

LaunchGeometry spread_launch(const Family& family, const Config& config, const Problem& problem,
                             const DeviceLimits& limits, const LaunchGeometry& launch) {
  LaunchGeometry spread = launch;
  if (const auto unlimited = unlimited_launch(family, config, problem, limits)) {
    spread.grid = unlimited->grid;
  }
  return spread;
}

std::optional<std::int64_t> count_tiles(const Family& family, const Config& config, Problem problem,
                                        const DeviceLimits& limits) {
  problem.seq_len_kv = 1;
  const auto launch = unlimited_launch(family, config, problem, limits);
  return launch ? std::optional(block_count(*launch)) : std::nullopt;
}

Estimated estimate_result(const Family& family, const Result& result,
                          const LaunchGeometry& geometry, const Problem& problem,
                          const DeviceLimits& limits, const SmRates& rates, const KnownCode& code) {
  const WorkCount work(family, problem, limits);
  if (auto model = time_model(family, result.config, problem, limits)) {
    return estimate(work.of(*std::move(model)), limits);
  }
  const LaunchGeometry spread = spread_launch(family, result.config, problem, limits, geometry);
  Estimated estimated = estimate(work.of(result, spread, code), limits, rates);
  if (work.knows_problem_alone(result.config, code)) {
    estimated.from = EstimateSource::problem;
  }
  return estimated;
}

bool uses_tensor_cores(std::string_view ptx) {
  constexpr std::array<std::string_view, 3> kProducts{"mma.sync", "mma_async", "tcgen05.mma"};
  return std::ranges::any_of(kProducts, [&](std::string_view product) {
    return ptx.find(product) != std::string_view::npos;
  });
}

Guess guess(const Family& family, const Result& result, const LaunchGeometry& geometry,
            const Problem& problem, const DeviceLimits& limits, const SmRates& rates) {
  constexpr int kTypicalRegisters = 160;
  const auto& block = geometry.block;
  Result guessed = result;
  guessed.threads_per_block = static_cast<int>(block[0] * block[1] * block[2]);
  guessed.blocks_per_sm =
      std::max(1, blocks_per_sm(limits, guessed.threads_per_block, kTypicalRegisters,
                                geometry.dynamic_smem_bytes));
  return {estimate_result(family, guessed, geometry, problem, limits, rates),
          guessed.blocks_per_sm};
}

}  // namespace fatune
