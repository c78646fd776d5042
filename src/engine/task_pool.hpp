#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fatune {

/// Threads that work off tasks in the order in which they are added.
class TaskPool {
 public:
  /// A task must not throw.
  using Task = std::function<void()>;

  explicit TaskPool(int threads);
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;
  TaskPool(TaskPool&&) = delete;
  TaskPool& operator=(TaskPool&&) = delete;
  ~TaskPool();  ///< drops the tasks that have not begun, and waits for the others

  void add(Task task);
  /// Waits until a task has ended since the last call, or for so long.
  void wait(std::chrono::milliseconds within);
  /// Drops the tasks that have not begun.
  void drop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable added_;
  std::condition_variable ended_;
  std::deque<Task> tasks_;
  bool any_ended_ = false;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace fatune
