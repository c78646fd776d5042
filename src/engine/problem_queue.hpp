#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/problem_plan.hpp"

namespace fatune {

/// The order in which problems are begun, as their numbers. On one GPU it is the planned order. On
/// several GPUs the longest come first, so that all GPUs finish at about the same time.
[[nodiscard]] std::vector<std::size_t> work_order(const std::vector<ProblemPlan>& plans,
                                                  std::size_t gpus);

/// Hands out problems to GPUs. Each problem is handed out once, so that its ranking is never split.
class ProblemQueue {
 public:
  explicit ProblemQueue(const std::vector<std::size_t>& order);

  /// Reserves the problem for one GPU (seat). To be called before the first take().
  void reserve(std::size_t problem, std::size_t seat);
  /// Takes the next problem that is reserved for the seat, else the next that is not reserved.
  /// Empty: there is none. May be called from any thread.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t seat);
  [[nodiscard]] std::size_t left() const;  ///< problems not yet taken

 private:
  mutable std::mutex mutex_;
  std::deque<std::size_t> free_;
  std::map<std::size_t, std::deque<std::size_t>> reserved_;  ///< keyed by seat
};

}  // namespace fatune
