#include "engine/problem_queue.hpp"

#include <algorithm>
#include <numeric>

#include "attention/flop.hpp"

namespace fatune {
namespace {

/// An estimate of a problem's cost: the work of its kernels, and a fixed cost for each kernel.
double cost_of(const ProblemPlan& plan) {
  constexpr double kFlopOfOverhead = 1e11;
  const auto configs = static_cast<double>(plan.configs.size() + plan.audited.size());
  return configs * (literature_flop(plan.problem) + kFlopOfOverhead);
}

std::optional<std::size_t> pop(std::deque<std::size_t>& queue) {
  if (queue.empty()) {
    return std::nullopt;
  }
  const std::size_t first = queue.front();
  queue.pop_front();
  return first;
}

}  // namespace

std::vector<std::size_t> work_order(const std::vector<ProblemPlan>& plans, std::size_t gpus) {
  std::vector<std::size_t> order(plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (gpus > 1) {
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return cost_of(plans[a]) > cost_of(plans[b]); });
  }
  return order;
}

ProblemQueue::ProblemQueue(const std::vector<std::size_t>& order)
    : free_(order.begin(), order.end()) {}

void ProblemQueue::reserve(std::size_t problem, std::size_t seat) {
  const std::lock_guard lock(mutex_);
  if (std::erase(free_, problem) > 0) {
    reserved_[seat].push_back(problem);
  }
}

std::optional<std::size_t> ProblemQueue::take(std::size_t seat) {
  const std::lock_guard lock(mutex_);
  const auto reserved = pop(reserved_[seat]);
  return reserved ? reserved : pop(free_);
}

std::size_t ProblemQueue::left() const {
  const std::lock_guard lock(mutex_);
  return std::accumulate(
      reserved_.begin(), reserved_.end(), free_.size(),
      [](std::size_t sum, const auto& queue) { return sum + queue.second.size(); });
}

}  // namespace fatune
