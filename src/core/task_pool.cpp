#include "core/task_pool.hpp"

#include <algorithm>
#include <utility>

namespace fatune {

TaskPool::TaskPool(int threads) {
  for (int i = 0; i < std::max(threads, 1); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

TaskPool::~TaskPool() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
  closed_ = true;
  added_.notify_all();
}

void TaskPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) {
      return;
    }
    Task task = std::move(tasks_.extract(tasks_.begin()).mapped());
    ++running_;
    lock.unlock();
    task();
    task = {};  // releases what the task holds before its end is announced
    lock.lock();
    --running_;
    any_ended_ = true;
    ended_.notify_all();
  }
}

void TaskPool::add(Task task, std::size_t rank) {
  const std::lock_guard lock(mutex_);
  tasks_.emplace(rank, std::move(task));
  added_.notify_one();
}

void TaskPool::wait(std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, within, [this] { return any_ended_; });
  any_ended_ = false;
}

void TaskPool::finish() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
}

void TaskPool::drop() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
  ended_.notify_all();
}

}  // namespace fatune
