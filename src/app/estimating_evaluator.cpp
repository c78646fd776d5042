#include "app/estimating_evaluator.hpp"

#include <utility>

#include "plan/planner.hpp"

namespace fatune {

EstimatingEvaluator::EstimatingEvaluator(const Family& family, DeviceLimits limits)
    : family_(family), limits_(std::move(limits)) {}

double EstimatingEvaluator::quantity_or(const Config& config, const char* name,
                                        double otherwise) const {
  return find_quantity(family_, config, problem_, limits_, name).value_or(otherwise);
}

KernelWork EstimatingEvaluator::work_of(const Entry& entry, const LaunchGeometry& geometry) const {
  const auto& grid = geometry.grid;
  const auto heads = static_cast<double>(problem_.batch * problem_.heads);
  const auto scores = static_cast<double>(problem_.seq_len) * static_cast<double>(problem_.seq_len);
  KernelWork work;
  work.blocks = grid[0] * grid[1] * grid[2];
  work.threads_per_block = entry.threads_per_block;
  work.blocks_per_sm = entry.blocks_per_sm;
  work.tensor_flop = quantity_or(entry.config, "tensor_flop", literature_flop(problem_));
  work.exponentials = quantity_or(entry.config, "exponentials", heads * scores);
  work.smem_traffic_bytes = quantity_or(entry.config, "smem_traffic_bytes", 0.0);
  work.device_memory_bytes = 4.0 * static_cast<double>(tensor_bytes(problem_));
  const auto blocks = static_cast<double>(work.blocks);
  const double kv_steps = heads * quantity_or(entry.config, "kv_steps", blocks / heads);
  const ResourceFacts facts = entry.facts.value_or(ResourceFacts{});
  const auto spilled_bytes = static_cast<double>(facts.spill_load_bytes + facts.spill_store_bytes);
  work.spill_bytes = spilled_bytes * work.threads_per_block * kv_steps;
  return work;
}

Outcome EstimatingEvaluator::evaluate(const Entry& entry, const Candidate& candidate) {
  return estimate(work_of(entry, candidate.geometry), limits_);
}

}  // namespace fatune
