#include "engine/choice/workload_order.hpp"

#include <algorithm>
#include <functional>

#include "base/ranges.hpp"
#include "engine/candidate_maker.hpp"
#include "model/flop.hpp"

namespace fatune {
namespace {

constexpr double kShareByTime = 0.75;

/// The least estimate of a call of the problem; 0: no configuration has one.
double guess_us(const KernelSet& kernels, const DeviceLimits& device, const SmRates& rates,
                const ProblemPlan& plan) {
  CandidateMaker maker(kernels.families, device, rates, plan.problem);
  double least_us = 0.0;
  for (const Config& config : plan.configs) {
    const double us = maker.guess_us(config);
    least_us = us > 0.0 && (least_us == 0.0 || us < least_us) ? us : least_us;
  }
  return least_us;
}

/// Sets each problem's share of a budget by its weight: three quarters by it, the rest equally.
void share_by_weight(std::vector<ProblemPlan>& problems) {
  const double all = sum_of<double>(problems, &ProblemPlan::weight);
  const double each = 1.0 / static_cast<double>(problems.size());
  for (ProblemPlan& plan : problems) {
    const double by_time = all > 0.0 ? plan.weight / all : each;
    plan.weight = kShareByTime * by_time + (1.0 - kShareByTime) * each;
  }
}

/// A stand-in for the time of a call, the same whatever the GPU: FLOP, or those that a GPU of the
/// kind of an A100 or H200 can do while it reads the bytes.
double work_of(const Problem& problem) {
  constexpr double kFlopPerByte = 200.0;
  return std::max(attention_flop(problem), kFlopPerByte * needed_bytes(problem));
}

}  // namespace

std::vector<int> balanced_shards(std::vector<ProblemPlan> problems, int count) {
  const bool is_timed = std::ranges::all_of(
      problems, [](const ProblemPlan& plan) { return plan.before_us.has_value(); });
  for (ProblemPlan& plan : problems) {
    plan.weight = *plan.calls * (is_timed ? *plan.before_us : work_of(plan.problem));
  }
  share_by_weight(problems);
  auto order = mapped(indices_of(problems), std::identity{});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t place) { return problems[place].weight; });
  std::vector<double> loads(static_cast<std::size_t>(count));
  std::vector<int> shards(problems.size());
  for (const std::size_t place : order) {
    const auto least = std::ranges::min_element(loads);
    *least += problems[place].weight;
    shards[place] = static_cast<int>(least - loads.begin()) + 1;
  }
  return shards;
}

void put_heaviest_first(const KernelSet& kernels, const DeviceLimits& device,
                        std::vector<ProblemPlan>& problems) {
  const SmRates rates = load_sm_rates(kernels.tree, device.arch);
  for (ProblemPlan& plan : problems) {
    const double call_us =
        plan.before_us ? *plan.before_us : guess_us(kernels, device, rates, plan);
    plan.weight = plan.calls.value_or(1.0) * call_us;
  }
  std::ranges::stable_sort(problems, std::greater{}, &ProblemPlan::weight);
  share_by_weight(problems);
}

}  // namespace fatune
