#include "engine/choice/workload_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/ranges.hpp"
#include "engine/candidate_maker.hpp"

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

}  // namespace

void put_heaviest_first(const KernelSet& kernels, const DeviceLimits& device,
                        std::vector<ProblemPlan>& problems) {
  const SmRates rates = load_sm_rates(kernels.tree, device.arch);
  for (ProblemPlan& plan : problems) {
    const double call_us =
        plan.before_us ? *plan.before_us : guess_us(kernels, device, rates, plan);
    plan.weight = plan.calls.value_or(1.0) * call_us;
  }
  std::ranges::stable_sort(problems, std::greater{}, &ProblemPlan::weight);
  const double all = std::transform_reduce(problems.begin(), problems.end(), 0.0, std::plus{},
                                           std::mem_fn(&ProblemPlan::weight));
  const double each = 1.0 / static_cast<double>(problems.size());
  for (ProblemPlan& plan : problems) {
    const double by_time = all > 0.0 ? plan.weight / all : each;
    plan.weight = kShareByTime * by_time + (1.0 - kShareByTime) * each;
  }
}

}  // namespace fatune
