#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/problem_plan.hpp"

namespace fatune {

/// The order in which problems are begun, by number: as planned on one GPU; longest first on
/// several, so that all of them end at about the same time.
[[nodiscard]] std::vector<std::size_t> work_order(const std::vector<ProblemPlan>& plans,
                                                  std::size_t gpus);

/// Gives each GPU that asks its next problem. A problem is given once: its ranking is never split.
class ProblemQueue {
 public:
  explicit ProblemQueue(const std::vector<std::size_t>& order);

  /// The problem is for this GPU (seat) alone. Before the first take().
  void reserve(std::size_t problem, std::size_t seat);
  /// The next one that is reserved for the seat; else the next that is not reserved. Nothing when
  /// there is none. From any thread.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t seat);
  [[nodiscard]] std::size_t left() const;  ///< not yet taken

 private:
  mutable std::mutex mutex_;
  std::deque<std::size_t> free_;
  std::map<std::size_t, std::deque<std::size_t>> reserved_;  ///< by seat
};

}  // namespace fatune
