#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace fatune {

/// A pool of threads that run tasks in the order of their ranks. Tasks of the same rank run in the
/// order in which they are added. Any thread may call it, including one that runs a task.
class TaskPool {
 public:
  /// A task must not throw.
  using Task = std::function<void()>;

  /// Starts at least one thread.
  explicit TaskPool(int threads);
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;
  ~TaskPool();  ///< drops the tasks that have not begun, and waits for the others

  void add(Task task, std::size_t rank = 0);
  /// Waits until a task has ended since the last call, for at most `within`.
  void wait(std::chrono::milliseconds within);
  /// Waits until every task has ended or was dropped. A task must not call it.
  void finish();
  /// Drops the tasks that have not begun.
  void drop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable added_;
  std::condition_variable ended_;
  std::multimap<std::size_t, Task> tasks_;  ///< keyed by rank
  std::size_t running_ = 0;
  bool any_ended_ = false;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace fatune
