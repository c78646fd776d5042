#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <ctime>
#include <exception>
#include <filesystem>
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

/// Calls `work(i)` for each index below `count`, on `jobs` threads. After an exception no further
/// call begins. The first exception is rethrown when all calls have ended.
template <typename Work>
void for_each_index(std::size_t count, int jobs, Work work) {
  std::atomic<bool> failed = false;
  std::exception_ptr failure;  // thrown by the call that set `failed`
  TaskPool pool(jobs);
  for (std::size_t i = 0; i < count; ++i) {
    pool.add([&, i] {
      if (failed) {
        return;
      }
      try {
        work(i);
      } catch (...) {
        if (!failed.exchange(true)) {
          failure = std::current_exception();
        }
      }
    });
  }
  pool.finish();
  if (failure) {
    std::rethrow_exception(failure);
  }
}

/// The number of cores that this process may use, at least 1: those of its CPU affinity, but no
/// more than the CPU time that its control groups (version 1 or 2) grant it, rounded up.
/// `root`: the folder that has proc/self/cgroup and sys/fs/cgroup.
[[nodiscard]] int usable_cores(const std::filesystem::path& root = "/");

/// The CPU time of this thread so far, in seconds.
[[nodiscard]] inline double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace fatune
