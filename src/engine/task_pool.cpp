#include "engine/task_pool.hpp"

#include <utility>

namespace fatune {

TaskPool::TaskPool(int threads) {
  for (int i = 0; i < threads; ++i) {
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
    const Task task = std::exchange(tasks_.front(), {});
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
    any_ended_ = true;
    ended_.notify_all();
  }
}

void TaskPool::add(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  added_.notify_one();
}

void TaskPool::wait(std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, within, [this] { return any_ended_; });
  any_ended_ = false;
}

void TaskPool::drop() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
}

}  // namespace fatune
